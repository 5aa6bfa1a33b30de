import type { Host } from '../../lab/hosts/host.ts'
import type { OwnRelease } from '../../src/lifecycle/agent-install.ts'

const hello = '{"apiVersion":"hyperkube.dev/v1","kind":"AgentRequest","ask":{"type":"hello"}}'

/** A host of the lab, as it is asked about its agent from outside. */
export class AgentHost {
  readonly host: Host

  constructor(host: Host) {
    this.host = host
  }

  async script(text: string): Promise<string> {
    return (await this.host.script(text)).stdout.trim()
  }

  /** Each service with its process and when that has started. */
  async processes(services: readonly string[]): Promise<string> {
    return this.script(
      `for name in ${services.join(' ')}; do echo $name $(systemctl show -p MainPID -p ExecMainStartTimestampMonotonic --value $name); done`,
    )
  }

  async agentPid(): Promise<string> {
    return this.script('systemctl show -p MainPID --value hyperkube-agent')
  }

  async answers(): Promise<boolean> {
    return (await this.script(`echo '${hello}' | /opt/hyperkube/current/hyperkube agent-call`)).includes(
      'hello',
    )
  }

  /** The directory of the release that it runs. */
  async current(): Promise<string> {
    return this.script('basename $(readlink /opt/hyperkube/current)')
  }

  /** Those of all that are there. */
  async releases(): Promise<string[]> {
    return (await this.script('ls /opt/hyperkube | grep ^hyperkube-')).split('\n')
  }

  /** What tells it to go back to a former agent. */
  async trial(): Promise<string> {
    return this.script('ls -d /var/lib/hyperkube/trial /etc/systemd/system/*revert* 2>/dev/null || true')
  }
}

export function directoryOf({ version }: OwnRelease): string {
  return `hyperkube-${version}`
}
