#include "model/snapshot.h"
