import type { Host } from './host.ts'

/** What the file of a program is called. */
export function programName({ os }: Pick<Host, 'os'>, name: string): string {
  return os === 'windows' ? `${name}.exe` : name
}
