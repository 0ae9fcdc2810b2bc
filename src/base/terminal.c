#include "base/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t gp_terminal_columns(int fd)
{
    int saved = errno;
    struct winsize size = {0};
    bool known = isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0;
    errno = saved;
    return known ? size.ws_col : 0;
}
