#include "record/capture.h"
