#include <stdlib.h>
#include "list.h"

struct node {
	int value;
	struct node *next;
};

/* Adds a value at the front. */
struct node *push(struct node *head, int value)
{
	struct node *n = malloc(sizeof *n);

	if (!n)
		return head;
	n->value = value;
	n->next = head;
	return n;
}

static int sum(const struct node *head)
{
	int total = 0;

	while (head) {
		total += head->value;
		head = head->next;
	}
	return total;
}

int main(void)
{
	struct node *head = push(push(NULL, 1), 2);
	return sum(head) == 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
