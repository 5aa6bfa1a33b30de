import { readdir, readFile } from 'node:fs/promises'
import { hasCode } from '../../kit/errors.ts'
import type { HostProcess, Processes } from './processes.ts'

export function createLinuxProcesses(): Processes {
  return {
    async list() {
      const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
      // Processes that end before they are read are skipped.
      const found = await Promise.all(names.map(async (name) => readProcess(name).catch(() => undefined)))
      return found.filter((one) => one !== undefined)
    },
    async kill(pid) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch (error) {
        if (!hasCode(error, 'ESRCH')) throw error
      }
    },
  }
}

async function readProcess(name: string): Promise<HostProcess> {
  const [stat, cmdline] = await Promise.all(
    ['stat', 'cmdline'].map(async (file) => readFile(`/proc/${name}/${file}`, 'utf8')),
  )
  // The second field is the program name in parentheses, which may itself contain spaces and parentheses.
  const [, parent = '0'] = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ')
  return { pid: Number(name), parent: Number(parent), argv: (cmdline ?? '').split('\0').slice(0, -1) }
}
