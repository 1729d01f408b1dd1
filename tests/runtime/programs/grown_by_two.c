/* Two threads in turn let the heap grow by less than makes a new peak, slowly enough for a point of
 * the series each time; then all of it is freed. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { BASE = 1000000, PIECE = 1000, TURNS = 4 };

static char *volatile pieces[TURNS];
static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *grow(void *arg)
{
    const int me = *(const int *)arg;
    pthread_mutex_lock(&mutex);
    while (turn < TURNS) {
        if (turn % 2 != me) {
            pthread_cond_wait(&changed, &mutex);
            continue;
        }
        usleep(20000); /* at first a point is due each millisecond */
        pieces[turn++] = malloc(PIECE);
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    static const int numbers[] = {0, 1};
    char *volatile base = malloc(BASE);
    pthread_t other;
    free(malloc(1)); /* closes the peak */
    if (pthread_create(&other, NULL, grow, (void *)&numbers[1]))
        return 1;
    grow((void *)&numbers[0]);
    pthread_join(other, NULL);
    for (int i = 0; i < TURNS; i++)
        free(pieces[i]);
    free(base);
    return 0;
}
