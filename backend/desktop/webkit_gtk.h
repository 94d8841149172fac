#include <stdint.h>

// All of these return at once; the work is done later on GTK's own thread.
void web_languages(char **spelling, char **preferred);
void web_stay(void);
void clipboard_picture(uintptr_t handle);
void clipboard_files(uintptr_t handle);
