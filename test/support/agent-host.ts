import type { Host } from '../../lab/hosts/host.ts'
import type { AgentRelease } from '../../src/lifecycle/agents/agent-release.ts'

const hello = '{"apiVersion":"hyperkube.dev/v1","kind":"AgentRequest","body":{"type":"hello"}}'

/** A lab host with scripts that inspect its agent from outside. */
export class AgentHost {
  readonly host: Host

  constructor(host: Host) {
    this.host = host
  }

  async script(text: string): Promise<string> {
    return (await this.host.script(text)).stdout.trim()
  }

  /** Returns each service with its pid and the start time of that process. */
  async readProcesses(services: readonly string[]): Promise<string> {
    return this.script(
      `for name in ${services.join(' ')}; do echo $name $(systemctl show -p MainPID -p ExecMainStartTimestampMonotonic --value $name); done`,
    )
  }

  async readAgentPid(): Promise<string> {
    return this.script('systemctl show -p MainPID --value hyperkube-agent')
  }

  async isReachable(): Promise<boolean> {
    return (await this.script(`echo '${hello}' | /opt/hyperkube/current/hyperkube agent-call`)).includes(
      'hello',
    )
  }

  /** Reads the directory name of the running release. */
  async readCurrentRelease(): Promise<string> {
    return this.script('basename $(readlink /opt/hyperkube/current)')
  }

  /** Lists the directory names of all installed releases. */
  async listReleases(): Promise<string[]> {
    return (await this.script('ls /opt/hyperkube | grep ^hyperkube-')).split('\n')
  }

  /** Lists files and units that roll the agent back to the previous release. */
  async listRollbackFiles(): Promise<string> {
    return this.script(
      'ls -d /var/lib/hyperkube/agent-switch /etc/systemd/system/*revert* 2>/dev/null || true',
    )
  }
}

export function formatReleaseDirectory({ version }: AgentRelease): string {
  return `hyperkube-${version}`
}
