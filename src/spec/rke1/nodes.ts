import { z } from 'zod'
import type { Role } from '../host.ts'
import { address, ipAddress, labelKey, labelValue, nodeName, port, taint } from '../scalars.ts'
import { osLabels } from './facts.ts'
import {
  drop,
  dropped,
  each,
  mapped,
  type Outcome,
  parsed,
  refuse,
  type Rule,
  secretNames,
  type Table,
  take,
  unsupported,
} from './rule.ts'
import { number, text } from './scalars.ts'

const hostname: Rule = ({ value, holes, facts }) =>
  parsed(text.transform((name) => name.toLowerCase()).pipe(nodeName), value, (name) => {
    const [index = 0] = holes
    const same = facts.hosts[Number(index)]?.name === name
    return take(['spec', 'hosts', index, same ? 'name' : 'nodeName'], name)
  })

const roleNames: Readonly<Record<string, Role>> = {
  controlplane: 'control-plane',
  etcd: 'etcd',
  worker: 'worker',
}

const role: Rule = ({ value, holes }) =>
  parsed(z.array(text, 'must be a list of roles'), value, (names) => {
    const path = ['spec', 'hosts', holes[0] ?? 0, 'roles']
    const roles = [
      ...new Set(names.flatMap((name) => (Object.hasOwn(roleNames, name) ? roleNames[name] : []))),
    ]
    if (names.every((name) => Object.hasOwn(roleNames, name))) return take(path, roles)
    const puts = roles.length === 0 ? [] : [{ path, value: roles }]
    return refuse('RKE1 has the roles controlplane, etcd and worker; the others are left out', puts)
  })

const label: Rule = ({ value, holes }) => {
  const [index = 0, key = ''] = holes
  if (osLabels.some((name) => name === key)) return osLabel(index, value)
  if (secretNames.has(String(key))) return refuse('looks like a secret; a label is no place for one')
  return parsed(labelKey, key, () =>
    parsed(text.pipe(labelValue), value, (fit) => take(['spec', 'hosts', index, 'labels', key], fit)),
  )
}

/** The kubelet sets this label by itself; what it tells us is which system the host runs. */
function osLabel(index: string | number, value: unknown): Outcome {
  return value === 'windows'
    ? take(['spec', 'hosts', index, 'os'], 'windows')
    : drop('the kubelet sets it by itself')
}

const rke1Taint = z
  .object({ key: text, value: text.optional(), effect: text }, 'must be a map')
  .pipe(taint.partial({ value: true }))

const taints: Rule = ({ value, holes }) => {
  const [index = 0, position = 0] = holes
  return parsed(rke1Taint, value, (fit) => take(['spec', 'hosts', index, 'taints', position], fit))
}

export const nodes: Table = {
  'nodes[].address': mapped('spec.hosts[].address', text.pipe(address)),
  'nodes[].internal_address': mapped('spec.hosts[].internalAddress', text.pipe(ipAddress)),
  'nodes[].hostname_override': hostname,
  'nodes[].role': role,
  'nodes[].user': mapped('spec.hosts[].ssh.user', text),
  'nodes[].port': mapped('spec.hosts[].ssh.port', number.pipe(port)),
  'nodes[].ssh_key_path': mapped('spec.hosts[].ssh.key', text),
  'nodes[].ssh_key': unsupported('a key is never copied; save it as a file and name that in ssh.key'),
  'nodes[].ssh_agent_auth': dropped('the ssh agent is asked wherever no key is named'),
  ...each(
    'nodes[].',
    ['ssh_cert', 'ssh_cert_path'],
    unsupported('no ssh certificates yet; let the ssh agent hold them'),
  ),
  'nodes[].docker_socket': dropped('hyperkube runs containerd, without Docker'),
  'nodes[].nodeName': dropped('only Rancher used it'),
  'nodes[].labels.*': label,
  'nodes[].taints[]': taints,
}
