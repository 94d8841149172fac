"""Fits a line through points."""
import math
from dataclasses import dataclass


@dataclass
class Point:
    x: float
    y: float


class Line:
    """A line: y = a + b * x."""

    def __init__(self, a, b):
        self.a = a
        self.b = b

    def at(self, x):
        """The value at x."""
        return self.a + self.b * x

    @staticmethod
    def through(points):
        n = len(points)
        mean_x = sum(p.x for p in points) / n
        mean_y = sum(p.y for p in points) / n
        over = sum((p.x - mean_x) * (p.y - mean_y) for p in points)
        under = sum((p.x - mean_x) ** 2 for p in points)
        b = over / under
        return Line(mean_y - b * mean_x, b)


def main():
    line = Line.through([Point(0, 1), Point(1, 3)])
    print(line.at(math.pi))


if __name__ == "__main__":
    main()
