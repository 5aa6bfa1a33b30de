import { readFile } from 'node:fs/promises'
import type { RunCommand } from './command.ts'
import type { Mounts } from './mounts.ts'

export function createLinuxMounts(command: RunCommand): Mounts {
  const list = async (): Promise<string[]> => parseMountPoints(await readFile('/proc/self/mountinfo', 'utf8'))
  return {
    list,
    async unmount(path) {
      // Exit code 32: the mount is in use, or it disappeared together with another one, for example if a
      // directory is mounted over itself.
      const { code } = await command(['umount', '--', path], { codes: [0, 32] })
      if (code === 0 || !(await list()).includes(path)) return
      await command(['umount', '--lazy', '--', path])
    },
  }
}

/** Parses /proc/self/mountinfo. The latest mounts come first, because they may cover earlier ones. */
export function parseMountPoints(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 8))),
    )
    .toReversed()
}
