import { z } from 'zod'
import { address, dnsLabel, newestKubernetes, oldestKubernetes } from '../scalars.ts'
import { looseText, rke1Defaults } from './facts.ts'
import {
  dropKey,
  dropRule,
  forKeys,
  type KeyRule,
  mapKey,
  mapRule,
  parseValue,
  refuseKey,
  type RuleTable,
  unsupportedRule,
} from './rule.ts'

const name: KeyRule = ({ value }) =>
  parseValue(looseText, value, (written) => {
    const path = ['metadata', 'name']
    if (dnsLabel.safeParse(written).success) return mapKey(path, written)
    const label = written
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '')
    return mapKey(path, label === '' ? rke1Defaults.name : label, 'converted to a DNS label')
  })

const version: KeyRule = ({ value }) => {
  const path = ['spec', 'kubernetes']
  const upstream = /^v?(\d+\.\d+\.\d+)(-rancher[\d-]+)?$/.exec(String(value))
  const [, found = '', suffix] = upstream ?? []
  if (isSupported(found))
    return mapKey(path, found, suffix === undefined ? undefined : 'without the suffix of RKE1')
  const note = `hyperkube starts at ${oldestKubernetes}: replaced by ${newestKubernetes}; first prepare workloads for this version`
  return refuseKey(note, [{ path, value: newestKubernetes }])
}

/** True if hyperkube accepts versions of this minor. */
function isSupported(found: string): boolean {
  const [major, minor] = parseMinor(found)
  const [oldest, newest] = [parseMinor(oldestKubernetes), parseMinor(newestKubernetes)]
  return major === newest[0] && minor >= oldest[1] && minor <= newest[1]
}

function parseMinor(text: string): readonly [major: number, minor: number] {
  const [major = 0, minor = 0] = text.split('.').map(Number)
  return [major, minor]
}

const docker = dropRule('hyperkube runs containerd, without Docker')
const action = dropRule('requests a one-time action of RKE1; not a setting')

/** Rules for the top-level keys of an RKE1 file. */
export const rke1TopLevelRules: RuleTable = {
  cluster_name: name,
  kubernetes_version: version,
  system_images: dropRule('depends on the version of Kubernetes'),
  prefix_path: dropRule('hyperkube uses its own paths on a host'),
  win_prefix_path: dropRule('hyperkube uses its own paths on a host'),
  ...forKeys(
    '',
    [
      'ignore_docker_version',
      'enable_cri_dockerd',
      'cri_dockerd_stream_server_address',
      'cri_dockerd_stream_server_port',
    ],
    docker,
  ),
  ...forKeys('', ['restore', 'rotate_certificates', 'rotate_encryption_key'], action),
}

const strategy: KeyRule = ({ value }) =>
  value === 'x509'
    ? dropKey('certificates are always accepted')
    : refuseKey('only x509 is translated; set the flags of a webhook in components.apiServer.args')

const san: KeyRule = ({ value, captures }) =>
  parseValue(looseText.pipe(address), value, (written) => ({
    ...mapKey(['spec', 'api', 'sans', captures[0] ?? 0], written),
    result: { verdict: 'mapped', to: 'spec.api.sans' },
  }))

const mode: KeyRule = ({ value }) =>
  value === 'rbac'
    ? dropKey('RBAC is always on')
    : refuseKey('RBAC is always on; create role bindings before you migrate')

export const rke1AuthenticationRules: RuleTable = {
  'authentication.strategy': strategy,
  'authentication.sans[]': san,
  'authentication.webhook': unsupportedRule(
    'write its file to the control planes with hosts[].files, and set its flags in components.apiServer.args',
  ),
  'authorization.mode': mode,
  'authorization.options': dropRule('RKE1 ignored it'),
}

const providerName: KeyRule = ({ value }) => {
  if (value === 'none') return dropKey('none is what hyperkube does')
  if (value !== 'external' && value !== 'external-aws') {
    return refuseKey(
      'Kubernetes has no in-tree cloud providers any more; install the external cloud controller manager',
    )
  }
  return mapKey(['spec', 'cloudProvider'], 'external', 'install its cloud controller manager yourself')
}

/** Rule for the maps of cloud providers. They contain credentials, so their content is never read. */
const providerSettings = unsupportedRule('pass it to the cloud controller manager that you install')

export const rke1CloudRules: RuleTable = {
  'cloud_provider.name': providerName,
  'cloud_provider.useInstanceMetadataHostname': dropRule('the node name comes from cluster.yml'),
  ...forKeys(
    'cloud_provider.',
    [
      'awsCloudProvider',
      'azureCloudProvider',
      'openstackCloudProvider',
      'vsphereCloudProvider',
      'harvesterCloudProvider',
      'customCloudProvider',
    ],
    providerSettings,
  ),
}

const amount = looseText
  .pipe(z.string().regex(/^([1-9]\d*|([1-9]\d?|100)%)$/, 'must be a number or a percentage, and at least 1'))
  .transform((written) => (written.endsWith('%') ? written : Number(written)))

const controlPlanes: KeyRule = ({ value }) =>
  looseText.safeParse(value).data === '1'
    ? dropKey('control planes are always changed one by one')
    : refuseKey('control planes are always changed one by one; this takes longer')

const draining = unsupportedRule('drain settings are not supported yet')

export const rke1RolloutRules: RuleTable = {
  'upgrade_strategy.max_unavailable_worker': mapRule('spec.rollout.maxUnavailable', amount),
  'upgrade_strategy.max_unavailable_controlplane': controlPlanes,
  'upgrade_strategy.drain': draining,
  'upgrade_strategy.node_drain_input': draining,
}
