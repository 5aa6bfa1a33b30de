import { readFile } from 'node:fs/promises'
import type { Command } from './command.ts'
import type { UserIds, Users } from './users.ts'

export function linuxUsers(command: Command): Users {
  return {
    async find(name) {
      // Most are here; only for others a program has to be asked.
      const local = idsIn(await readFile('/etc/passwd', 'utf8'), name)
      if (local !== undefined) return local
      // 2: there is none of this name.
      const { stdout } = await command(['getent', 'passwd', '--', name], { codes: [0, 2] })
      return idsIn(stdout, name)
    },
    async create(name) {
      // A group of its name may be left of one that was there before.
      const { code } = await command(['getent', 'group', '--', name], { codes: [0, 2] })
      const group = code === 0 ? `--gid=${name}` : '--user-group'
      const options = ['--system', group, '--no-create-home', '--home-dir=/nonexistent']
      await command(['useradd', ...options, '--shell=/usr/sbin/nologin', '--', name])
    },
    async remove(name) {
      // 6: it is gone already.
      await command(['userdel', '--', name], { codes: [0, 6] })
    },
  }
}

/** From lines as those of /etc/passwd. */
function idsIn(text: string, user: string): UserIds | undefined {
  const lines = text.split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === user) ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
