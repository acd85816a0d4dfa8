// The C client and its behaviours once more, as C++.
#include "tests/clients/behaviours.c"
