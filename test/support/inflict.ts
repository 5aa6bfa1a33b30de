import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import type { Interruption } from './interruption.ts'
import type { EventCommand } from './event-command.ts'

/** Interrupts a command. A host without power is started again at once. */
export async function interruptCommand(
  { kind, host: name }: Interruption,
  lab: Lab,
  command: Pick<EventCommand, 'pid' | 'kill'>,
): Promise<void> {
  const host = await lab.host(name)
  switch (kind) {
    case 'cli-killed':
      return command.kill('SIGKILL')
    case 'cli-interrupted':
      return command.kill('SIGINT')
    case 'ssh-cut':
      return cutSsh(host, command.pid)
    case 'agent-killed':
      await host.script('kill -KILL "$(systemctl show --property=MainPID --value hyperkube-agent)"')
      return
    case 'host-crash':
      await host.crash()
      break
    default:
      await host.powerCut()
  }
  await lab.start(name)
}

/** Kills the sshd sessions of one process, and no others. */
async function cutSsh(host: Host, pid: number): Promise<void> {
  const { stdout } = await runProgram(['ss', '-Htnp', 'state', 'established', 'dst', `${host.address}:22`])
  const ports = stdout
    .split('\n')
    .filter((line) => line.includes(`pid=${pid},`))
    .flatMap((line) => /:(\d+)\s+\S+:22\s/.exec(line)?.[1] ?? [])
  if (ports.length === 0) throw new Error(`process ${pid} has no connection to ${host.name}`)
  const sessions = ports.map((port) => `ss -Htnp state established sport = :22 and dport = :${port}`)
  await host.script(
    `kill -KILL $({ ${sessions.join('; ')}; } | grep -o 'pid=[0-9]*' | cut -d= -f2 | sort -u)`,
  )
}
