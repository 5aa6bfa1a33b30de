import type { Argv } from '../../../kit/command.ts'
import type { FactSource } from '../source.ts'

/**
 * Whether a kernel can do something, where neither its modules nor its files tell: it is done, in a network of its own
 * that ends with the program. Nothing of the host's own network is touched.
 */
const trials = {
  bridge: ['ip', 'link', 'add', 'name', 'trial', 'type', 'bridge'],
  vxlan: ['ip', 'link', 'add', 'name', 'trial', 'type', 'vxlan', 'id', '1', 'dstport', '4789'],
  // What rules of kube-proxy are made of.
  nftables: [
    'nft',
    [
      'add table ip trial',
      'add chain ip trial target',
      'add chain ip trial nat { type nat hook postrouting priority 100 ; }',
      'add rule ip trial nat fib daddr type local masquerade',
      'add rule ip trial nat numgen random mod 1 vmap { 0 : goto target }',
    ].join('; '),
  ],
  iptables: [
    ...['iptables', '-w', '2', '-t', 'nat', '-A', 'POSTROUTING'],
    ...['-m', 'comment', '--comment', 'trial', '-j', 'MASQUERADE'],
  ],
} as const satisfies Readonly<Record<string, Argv>>

export async function succeeds({ run }: FactSource, trial: keyof typeof trials): Promise<boolean> {
  return (await run(['unshare', '--net', ...trials[trial]])).code === 0
}
