import type { Argv } from '../../../kit/command.ts'
import type { FactSource } from '../source.ts'

/**
 * Tests a kernel feature by using it, where neither modules nor files show it. The commands run in their own
 * network namespace, which ends with the program, so the host's network is not touched.
 */
const featureCommands = {
  bridge: ['ip', 'link', 'add', 'name', 'trial', 'type', 'bridge'],
  vxlan: ['ip', 'link', 'add', 'name', 'trial', 'type', 'vxlan', 'id', '1', 'dstport', '4789'],
  // Statements that kube-proxy's rules consist of.
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

export async function canUseFeature(
  { run }: FactSource,
  feature: keyof typeof featureCommands,
): Promise<boolean> {
  return (await run(['unshare', '--net', ...featureCommands[feature]])).code === 0
}
