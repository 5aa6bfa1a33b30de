import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { runProgram } from '../../src/kit/command.ts'
import { loginUser } from './paths.ts'

/** Milliseconds for which the adapter is down while the first network of a host is created. */
const downtimeMs = 3000

/**
 * Simulates the creation of a virtual switch: all incoming connections break, and the host is unreachable for
 * some seconds.
 */
export async function interruptNetwork(gateway: string): Promise<void> {
  await runProgram(['ip', 'link', 'set', 'eth0', 'down'])
  for (const id of await listLoginProcesses()) process.kill(id)
  await sleep(downtimeMs)
  await runProgram(['ip', 'link', 'set', 'eth0', 'up'])
  await runProgram(['ip', 'route', 'replace', 'default', 'via', gateway])
}

/** Returns the ids of sshd processes that serve a Windows login. */
async function listLoginProcesses(): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
      return line.startsWith(`sshd: ${loginUser}`) ? [Number(id)] : []
    }),
  )
  return found.flat()
}
