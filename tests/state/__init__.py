"""The store: one set of cases on SQLite and PostgreSQL.

Rules for whoever writes beside lionagi 0.36 have numbers, and each that concerns what we write has a test that carries its number
(``test_invariant_NN_…``, in the files of the stores, ``test_ledger_invariants`` and ``test_writer_invariants``). These do not:

======  ==============================================================================================================
number  why there is nothing to test
======  ==============================================================================================================
25      Whether a process was stopped before its run is called failed is not the store's to know; see the stop of runs.
49      Files of a run (``run.json`` and its lock) are read only; none of ours has a name that a lock would have.
50      The files of teams are not written; their rows get a status at most.
51, 52  Definitions and shows on disk are the business of the file roots; the store never touches a file.
53, 55  Which home a command sees, and what an import doubles, is for people; the store offers neither.
54      No artifact of ours is a file; its row may name one, never a process id.
======  ==============================================================================================================

Numbers 12, 15 and 27 to 32 are about runs, messages, branches and their lists, which only whoever runs an agent may write: one
test holds every writer of ours to writing none of them.
"""
