import { readFile } from 'node:fs/promises'
import type { Command } from './command.ts'
import type { Mounts } from './mounts.ts'

export function linuxMounts(command: Command): Mounts {
  const list = async (): Promise<string[]> => mountPointsIn(await readFile('/proc/self/mountinfo', 'utf8'))
  return {
    list,
    async unmount(path) {
      // 32: somebody still uses it; or it has gone with another one, as where a directory is mounted over itself.
      const { code } = await command(['umount', '--', path], { codes: [0, 32] })
      if (code === 0 || !(await list()).includes(path)) return
      await command(['umount', '--lazy', '--', path])
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
