/* bcryptprimitives.dll for emulation layers that have none: the one function of it that the library of Rust takes. */
#include <windows.h>

#include <ntsecapi.h> /* needs the other */

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return RtlGenRandom(data, (ULONG)length);
}
