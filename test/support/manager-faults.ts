import type { Host } from '../../lab/hosts/host.ts'

const service = 'hyperkube-controller-manager'

/** A fault of the leading controller manager. */
export interface LeaderFault {
  readonly what: string
  readonly inject: (host: Host) => Promise<void>
  readonly undo: (host: Host) => Promise<void>
}

const table = 'manager_fault'

export const leaderFaults: readonly LeaderFault[] = [
  {
    what: 'killed',
    inject: async (host) => void (await host.script(`systemctl kill -s KILL ${service}`)),
    undo: async () => undefined,
  },
  {
    what: 'stopped, and waking later as if nothing had happened',
    inject: async (host) => void (await host.script(`systemctl kill -s STOP ${service}`)),
    undo: async (host) => void (await host.script(`systemctl kill -s CONT ${service} || true`)),
  },
  {
    what: 'cut off from the API',
    // Drops packets of the manager's user only, so other processes on the host are unaffected.
    inject: async (host) =>
      void (await host.script(`nft -f - <<END
table inet ${table} {
  chain out { type filter hook output priority -300; meta skuid ${service} tcp dport 6443 drop; }
}
END`)),
    undo: async (host) => void (await host.script(`nft delete table inet ${table} || true`)),
  },
]
