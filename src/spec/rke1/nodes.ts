import { z } from 'zod'
import type { HostRole } from '../host.ts'
import { address, ipAddress, labelKey, labelValue, nodeName, port, taint } from '../scalars.ts'
import { looseNumber, looseText, osLabels } from './facts.ts'
import {
  dropKey,
  dropRule,
  forKeys,
  type KeyRule,
  mapKey,
  mapRule,
  parseValue,
  refuseKey,
  type RuleResult,
  type RuleTable,
  secretNames,
  unsupportedRule,
} from './rule.ts'

const hostname: KeyRule = ({ value, captures, facts }) =>
  parseValue(looseText.transform((name) => name.toLowerCase()).pipe(nodeName), value, (name) => {
    const [index = 0] = captures
    const same = facts.hosts[Number(index)]?.name === name
    return mapKey(['spec', 'hosts', index, same ? 'name' : 'nodeName'], name)
  })

const roleNames: Readonly<Record<string, HostRole>> = {
  controlplane: 'control-plane',
  etcd: 'etcd',
  worker: 'worker',
}

const role: KeyRule = ({ value, captures }) =>
  parseValue(z.array(looseText, 'must be a list of roles'), value, (names) => {
    const path = ['spec', 'hosts', captures[0] ?? 0, 'roles']
    const roles = [
      ...new Set(names.flatMap((name) => (Object.hasOwn(roleNames, name) ? roleNames[name] : []))),
    ]
    if (names.every((name) => Object.hasOwn(roleNames, name))) return mapKey(path, roles)
    const assignments = roles.length === 0 ? [] : [{ path, value: roles }]
    return refuseKey('RKE1 has the roles controlplane, etcd and worker; the others are left out', assignments)
  })

const label: KeyRule = ({ value, captures }) => {
  const [index = 0, key = ''] = captures
  if (osLabels.some((name) => name === key)) return osLabel(index, value)
  if (secretNames.has(String(key))) return refuseKey('looks like a secret; do not store secrets in labels')
  return parseValue(labelKey, key, () =>
    parseValue(looseText.pipe(labelValue), value, (parsedValue) =>
      mapKey(['spec', 'hosts', index, 'labels', key], parsedValue),
    ),
  )
}

/**
 * Handles the operating system label of a node. The kubelet sets this label itself, so its value is only used
 * to detect Windows hosts.
 */
function osLabel(index: string | number, value: unknown): RuleResult {
  return value === 'windows'
    ? mapKey(['spec', 'hosts', index, 'os'], 'windows')
    : dropKey('the kubelet sets it by itself')
}

const rke1Taint = z
  .object({ key: looseText, value: looseText.optional(), effect: looseText }, 'must be a map')
  .pipe(taint.partial({ value: true }))

const taints: KeyRule = ({ value, captures }) => {
  const [index = 0, position = 0] = captures
  return parseValue(rke1Taint, value, (parsedValue) =>
    mapKey(['spec', 'hosts', index, 'taints', position], parsedValue),
  )
}

export const rke1NodeRules: RuleTable = {
  'nodes[].address': mapRule('spec.hosts[].address', looseText.pipe(address)),
  'nodes[].internal_address': mapRule('spec.hosts[].internalAddress', looseText.pipe(ipAddress)),
  'nodes[].hostname_override': hostname,
  'nodes[].role': role,
  'nodes[].user': mapRule('spec.hosts[].ssh.user', looseText),
  'nodes[].port': mapRule('spec.hosts[].ssh.port', looseNumber.pipe(port)),
  'nodes[].ssh_key_path': mapRule('spec.hosts[].ssh.key', looseText),
  'nodes[].ssh_key': unsupportedRule('keys are never copied; save it as a file and set its path in ssh.key'),
  'nodes[].ssh_agent_auth': dropRule('hyperkube uses the ssh agent if no key is set'),
  ...forKeys(
    'nodes[].',
    ['ssh_cert', 'ssh_cert_path'],
    unsupportedRule('ssh certificates are not supported yet; load them into the ssh agent'),
  ),
  'nodes[].docker_socket': dropRule('hyperkube runs containerd, without Docker'),
  'nodes[].nodeName': dropRule('only Rancher used it'),
  'nodes[].labels.*': label,
  'nodes[].taints[]': taints,
}

const agent = dropRule('hyperkube uses the ssh agent if no key is set')
const certificate = unsupportedRule('ssh certificates are not supported yet; load them into the ssh agent')

/** Rules for SSH settings that apply to all hosts. */
export const rke1SshRules: RuleTable = {
  ssh_key_path: mapRule('spec.ssh.key', looseText),
  ssh_agent_auth: agent,
  ssh_cert_path: certificate,
  'bastion_host.address': mapRule('spec.ssh.bastion.address', looseText.pipe(address)),
  'bastion_host.user': mapRule('spec.ssh.bastion.user', looseText),
  'bastion_host.port': mapRule('spec.ssh.bastion.port', looseNumber.pipe(port)),
  'bastion_host.ssh_key_path': mapRule('spec.ssh.bastion.key', looseText),
  'bastion_host.ssh_key': unsupportedRule(
    'keys are never copied; save it as a file and set its path in ssh.bastion.key',
  ),
  'bastion_host.ssh_agent_auth': agent,
  ...forKeys('bastion_host.', ['ssh_cert', 'ssh_cert_path'], certificate),
  'bastion_host.ignore_proxy_env_vars': dropRule('proxy variables of your shell are not used for ssh'),
}
