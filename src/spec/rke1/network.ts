import { z } from 'zod'
import { port } from '../scalars.ts'
import { drop, dropped, each, parsed, refuse, type Rule, type Seen, type Table, take } from './rule.ts'
import { number, text } from './scalars.ts'

const noPolicies =
  'flannel is written, which enforces no NetworkPolicy; set network.plugin to none to bring a plugin of your own'

const plugin: Rule = ({ value }) => {
  const path = ['spec', 'network', 'plugin']
  if (value === 'flannel' || value === 'none') return take(path, value)
  return refuse(noPolicies, [{ path, value: 'flannel' }])
}

/** Settings of a plugin that the cluster does not use say nothing about it. */
function onlyFor(owner: 'canal' | 'flannel', rule: Rule): Rule {
  return (seen) => (seen.facts.plugin === owner ? rule(seen) : drop(`only counts with the plugin ${owner}`))
}

/** With Windows hosts flannel has no choice, and `needed` is what it must be. */
function backend(field: string, schema: z.ZodType<string | number>, needed: string | number): Rule {
  return ({ value, facts }) =>
    parsed(schema, value, (fit) =>
      facts.windows && fit !== needed
        ? refuse(`with Windows hosts flannel needs ${needed}, and that is written`)
        : take(['spec', 'network', 'flannel', field], fit),
    )
}

const type = backend('backend', z.enum(['vxlan', 'host-gw']), 'vxlan')
const vni = backend('vni', number.pipe(z.int('must be a whole number').min(1).max(16_777_215)), 4096)
const vxlanPort = backend('port', number.pipe(port), 4789)

/** A host that says where the others find it has said by that which interface it is. */
const iface: Rule = ({ value, facts }) =>
  parsed(text, value, (name) => {
    const puts = facts.hosts.flatMap(({ addressed }, index) =>
      addressed ? [] : [{ path: ['spec', 'hosts', index, 'interface'], value: name }],
    )
    if (puts.length === 0) return drop('every host has an internal address')
    return { told: { verdict: 'mapped', to: 'spec.hosts[].interface' }, puts }
  })

const mtu: Rule = ({ value, facts }: Seen) => {
  if (text.safeParse(value).data === '0') return drop('is left to flannel, as it is here')
  if (facts.plugin === 'none') return drop('only counts with a plugin')
  const schema = number.pipe(z.int('must be a whole number').min(576).max(65_535))
  return parsed(schema, value, (fit) => take(['spec', 'network', 'flannel', 'mtu'], fit))
}

const options = (owner: 'canal' | 'flannel', prefix: string): Table => ({
  [`network.options.${owner}_iface`]: onlyFor(owner, iface),
  [`network.options.${prefix}_backend_type`]: onlyFor(owner, type),
  [`network.options.${prefix}_backend_vni`]: onlyFor(owner, vni),
  [`network.options.${prefix}_backend_port`]: onlyFor(owner, vxlanPort),
  [`network.${owner}_network_provider.iface`]: onlyFor(owner, iface),
})

const gone = dropped('belongs to a plugin that hyperkube does not bring')

export const network: Table = {
  'network.plugin': plugin,
  'network.mtu': mtu,
  ...options('canal', 'canal_flannel'),
  ...options('flannel', 'flannel'),
  ...each(
    'network.options.',
    [
      'canal_flex_volume_plugin_dir',
      'canal_priority_class_name',
      'calico_cloud_provider',
      'calico_flex_volume_plugin_dir',
      'calico_node_priority_class_name',
      'calico_kube_controllers_priority_class_name',
      'kube_flannel_priority_class_name',
      'weave_net_priority_class_name',
    ],
    gone,
  ),
  ...each('network.', ['calico_network_provider', 'weave_network_provider', 'aci_network_provider'], gone),
  ...each(
    'network.',
    ['node_selector', 'tolerations', 'update_strategy'],
    dropped('flannel is a program on every host, not a set of pods'),
  ),
}
