import type { Host } from './host.ts'

/** Returns the file name of a program on the host's operating system. */
export function programName({ os }: Pick<Host, 'os'>, name: string): string {
  return os === 'windows' ? `${name}.exe` : name
}
