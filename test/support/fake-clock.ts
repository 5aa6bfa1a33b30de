import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host } from '../../lab/hosts/host.ts'
import { runProgram } from '../../src/kit/command.ts'

/**
 * C source of a library that shifts the time of day of one process by the seconds in a file. Lab hosts share
 * the clock of the machine that runs the lab, and a test must not set this clock. Monotonic clocks stay
 * unchanged, as when a real clock is set.
 */
const source = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static long offset(void) {
  long seconds = 0;
  FILE *file = fopen("/run/wrong-clock", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
  fclose(file);
  return seconds;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
  int code = real(id, now);
  if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
  return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int code = real(now, zone);
  if (code == 0) now->tv_sec += offset();
  return code;
}
`

const library = '/usr/local/lib/wrong-clock.so'

/** Installs the library for a service. The service uses the shifted clock from its next start on. */
export async function installFakeClock(hosts: readonly Host[], service: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'wrong-clock-'))
  try {
    const [file, built] = [join(directory, 'clock.c'), join(directory, 'clock.so')]
    await writeFile(file, source)
    await runProgram(['gcc', '-shared', '-fPIC', '-O2', '-o', built, file, '-ldl'])
    const bytes = (await readFile(built)).toString('base64')
    const script = `base64 -d > ${library} <<END
${bytes}
END
      chmod 0755 ${library}
      mkdir -p /run/systemd/system/${service}.service.d
      printf '[Service]\\nEnvironment=LD_PRELOAD=${library}\\n' > /run/systemd/system/${service}.service.d/clock.conf
      systemctl daemon-reload`
    for (const host of hosts) await host.script(script)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Sets the offset of the shifted clock from the real time, in seconds. */
export async function setClockOffset(host: Host, offset: number): Promise<void> {
  await host.script(
    `echo ${offset} > /run/wrong-clock.new; chmod 0644 /run/wrong-clock.new; mv /run/wrong-clock.new /run/wrong-clock`,
  )
}

/** Removes the library. The service uses the real clock from its next start on. */
export async function removeFakeClock(host: Host, service: string): Promise<void> {
  await host.script(
    `rm -f /run/systemd/system/${service}.service.d/clock.conf /run/wrong-clock ${library}; systemctl daemon-reload`,
  )
}
