#include "base/intern.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define MOST_TEXTS 256

const char *gp_intern(const char *text, const char *instead)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char *texts[MOST_TEXTS];
    static size_t count;
    const char *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && !found; i++)
        if (strcmp(texts[i], text) == 0)
            found = texts[i];
    if (!found && count < MOST_TEXTS && (texts[count] = strdup(text)))
        found = texts[count++];
    pthread_mutex_unlock(&lock);
    return found ? found : instead;
}
