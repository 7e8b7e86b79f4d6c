"""Our own small store beside the home: answers, and a journal of what was done."""
