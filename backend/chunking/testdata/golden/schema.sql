-- People and what they bought.
CREATE TABLE people (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE
);
CREATE INDEX people_name ON people (name);

CREATE TABLE purchases (
  id     INTEGER PRIMARY KEY,
  person INTEGER NOT NULL REFERENCES people (id),
  amount NUMERIC NOT NULL CHECK (amount > 0),
  at     TEXT NOT NULL
);

INSERT INTO people (name, email) VALUES ('Ana', 'ana@example.org');
INSERT INTO people (name, email) VALUES ('Ben', 'ben@example.org');

SELECT p.name, sum(b.amount) AS total
FROM people p
JOIN purchases b ON b.person = p.id
WHERE b.at >= '2026-01-01'
GROUP BY p.name
ORDER BY total DESC;
