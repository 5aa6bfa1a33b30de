import { readFile } from 'node:fs/promises'
import type { RunCommand } from './command.ts'
import type { UserIds, Users } from './users.ts'

export function createLinuxUsers(command: RunCommand): Users {
  return {
    async find(name) {
      // Most users are in /etc/passwd. Only for others a program must be started.
      const local = parseUserIds(await readFile('/etc/passwd', 'utf8'), name)
      if (local !== undefined) return local
      // Exit code 2: the user does not exist.
      const { stdout } = await command(['getent', 'passwd', '--', name], { codes: [0, 2] })
      return parseUserIds(stdout, name)
    },
    async create(name) {
      // A group of this name may remain from an earlier user.
      const { code } = await command(['getent', 'group', '--', name], { codes: [0, 2] })
      const group = code === 0 ? `--gid=${name}` : '--user-group'
      const options = ['--system', group, '--no-create-home', '--home-dir=/nonexistent']
      await command(['useradd', ...options, '--shell=/usr/sbin/nologin', '--', name])
    },
    async remove(name) {
      // Exit code 6: the user does not exist any more.
      await command(['userdel', '--', name], { codes: [0, 6] })
    },
  }
}

/** Finds the ids of a user in text with the format of /etc/passwd. */
function parseUserIds(text: string, user: string): UserIds | undefined {
  const lines = text.split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === user) ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
