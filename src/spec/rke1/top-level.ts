import { dnsLabel } from '../scalars.ts'
import { newestKubernetes, oldestKubernetes } from '../versions.ts'
import { rke1Defaults } from './facts.ts'
import { dropRule, forKeys, parseValue, refuseKey, type KeyRule, type RuleTable, mapKey } from './rule.ts'
import { looseText } from './scalars.ts'

const name: KeyRule = ({ value }) =>
  parseValue(looseText, value, (written) => {
    const path = ['metadata', 'name']
    if (dnsLabel.safeParse(written).success) return mapKey(path, written)
    const label = written
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '')
    return mapKey(path, label === '' ? rke1Defaults.name : label, 'made a DNS label')
  })

const version: KeyRule = ({ value }) => {
  const path = ['spec', 'kubernetes']
  if (value === newestKubernetes || value === `v${newestKubernetes}`) return mapKey(path, newestKubernetes)
  const note = `hyperkube starts at ${oldestKubernetes}: ${newestKubernetes} is written; bring workloads up to it first`
  return refuseKey(note, [{ path, value: newestKubernetes }])
}

const docker = dropRule('hyperkube runs containerd, without Docker')
const action = dropRule('asks RKE1 to do something once; it is not a setting')

/** Rules for the top-level keys of an RKE1 file. */
export const rke1TopLevelRules: RuleTable = {
  cluster_name: name,
  kubernetes_version: version,
  system_images: dropRule('the version of Kubernetes decides which programs and images are used'),
  prefix_path: dropRule('hyperkube has places of its own on a host'),
  win_prefix_path: dropRule('hyperkube has places of its own on a host'),
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
