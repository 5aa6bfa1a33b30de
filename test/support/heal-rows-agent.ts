import type { Host } from '../../lab/hosts/host.ts'
import { healthOf, saysWell } from './heal-health.ts'
import { everyNode, type HealRow } from './heal-row.ts'
import { goOn, kill, stop } from './heal-rows-process.ts'

const service = 'hyperkube-agent'
const journal = '/var/lib/hyperkube/agent/journal.ndjson'
const common = { expects: 'heals', clients: 'there', alone: false } as const
/** What is on its way to the agent in the moment of the fault may be answered still. */
const answers = async (_scene: unknown, host: Host): Promise<boolean> => saysWell(await healthOf(host))

/** What happens to the agent itself. */
export const agentRows: readonly HealRow[] = [
  {
    ...{ ...common, id: 'kill-agent', what: 'the agent SIGKILL', hosts: everyNode, runs: 5 },
    ...{ codes: [], within: 120_000, seconds: 15 },
    inject: async (_scene, host) => kill(host, service),
    undo: async () => undefined,
    healed: answers,
  },
  {
    ...{ ...common, id: 'stop-agent', what: 'the agent SIGSTOP', hosts: ['w1'], runs: 1 },
    // systemd waits 100 s for a sign of life, and then as long again for it to leave.
    ...{ codes: ['AGENT_SILENT'], within: 300_000, seconds: 170 },
    inject: async (_scene, host) => stop(host, service),
    undo: async (_scene, host) => goOn(host, service),
    healed: answers,
  },
  {
    ...{
      ...common,
      id: 'agent-journal',
      what: 'journal of the agent corrupted, then SIGKILL',
      hosts: ['cp2'],
    },
    ...{ runs: 1, codes: [], within: 120_000, seconds: 20 },
    async inject(_scene, host) {
      await host.script(`cp -a ${journal} /root/heal-journal
        printf '\\0\\377{"apiVersion":' | dd of=${journal} conv=notrunc status=none
        head -c 5000 /dev/urandom >> ${journal}
        ! cmp -s ${journal} /root/heal-journal`)
      await kill(host, service)
    },
    async undo(scene, host) {
      if (await answers(scene, host).catch(() => false)) return
      await host.script(`cp -a /root/heal-journal ${journal}; systemctl restart ${service}`)
    },
    healed: answers,
  },
]
