// Reads made-up requests, caches answers, and loses one session in twenty requests.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

struct Session {
    char user[48];
    int  hits;
    Session *peer;
};

struct Answer {
    std::string text;
    std::vector<int> rows;
};

static std::unordered_map<int, Answer> cache;

__attribute__((noinline))
Session *open_session(int id)
{
    Session *s = (Session *)malloc(sizeof *s);
    snprintf(s->user, sizeof s->user, "user%d", id);
    s->hits = id;
    s->peer = nullptr;
    return s;
}

__attribute__((noinline))
long parse(const char *line)
{
    size_t n = strlen(line);
    char *copy = new char[n + 1];
    memcpy(copy, line, n + 1);
    long sum = 0;
    for (int r = 0; r < 20; r++)
        for (size_t i = 0; i < n; i++)
            sum += copy[i] * (r + 1);
    delete[] copy;
    return sum;
}

__attribute__((noinline))
const Answer &lookup(int key, long sum)
{
    Answer &a = cache[key];
    if (a.rows.empty()) {
        a.text = "answer for key " + std::to_string(key) + " with a long text";
        for (int i = 0; i < 30; i++)
            a.rows.push_back((int)(sum % (i + 2)));
    }
    return a;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300000;
    long total = 0;
    for (int i = 0; i < n; i++) {
        char line[80];
        snprintf(line, sizeof line, "GET /item/%d?from=shop&session=%d HTTP/1.1", i % 977, i);
        total += parse(line);
        total += (long)lookup(i / 10, total).text.size();
        if (i % 20 == 0) {
            Session *s = open_session(i);
            total += s->hits;
#ifdef MENDED
            free(s);
#endif
        }
    }
    printf("%ld\n", total);
    return 0;
}
