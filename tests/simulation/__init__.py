"""The scheduler in simulated time: the real host, loop, stores and lease over a real SQLite file; a virtual clock and fake
processes; two consoles that crash at named points, freeze, lose the store, are told to end; a clock that is set; a person who
edits, fires and holds. After each commit every rule (``invariants.py``) looks at what changed.

``--sim-days N`` plays more worlds, ``--sim-seed S`` the one of this seed again. A failure names the invariant, the seed and the
last events of its world; the same seed gives the same events and rows, on any machine. ``mutants.py`` lists broken builds, each
of which has to be caught: a new promise needs a rule, and a rule needs a build that breaks it.
"""
