import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../src/kit/command.ts'
import { user } from './paths.ts'

/** How long the adapter of a host is away when its first network is made, in milliseconds. */
const away = 3000

/** What a switch does to the host's connections: all that came in break, and nobody gets through for some seconds. */
export async function bounce(gateway: string): Promise<void> {
  await run(['ip', 'link', 'set', 'eth0', 'down'])
  for (const id of await logins()) process.kill(id)
  await sleep(away)
  await run(['ip', 'link', 'set', 'eth0', 'up'])
  await run(['ip', 'route', 'replace', 'default', 'via', gateway])
}

/** Processes of sshd that serve a login of Windows, each by what it says of itself. */
async function logins(): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
      return line.startsWith(`sshd: ${user}`) ? [Number(id)] : []
    }),
  )
  return found.flat()
}
