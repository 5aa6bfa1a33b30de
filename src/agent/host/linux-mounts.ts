import { readFile } from 'node:fs/promises'
import type { Command } from './command.ts'
import type { Mounts } from './mounts.ts'

export function linuxMounts(command: Command): Mounts {
  return {
    list: async () => mountPointsIn(await readFile('/proc/self/mountinfo', 'utf8')),
    async unmount(path) {
      // 32: somebody still uses it.
      const { code } = await command(['umount', '--', path], { codes: [0, 32] })
      if (code === 32) await command(['umount', '--lazy', '--', path])
    },
  }
}

/** From lines as those of /proc/self/mountinfo; what was mounted last comes first, as it may lie over others. */
export function mountPointsIn(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 8))),
    )
    .toReversed()
}
