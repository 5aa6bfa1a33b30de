import { dnsLabel } from '../scalars.ts'
import { newestKubernetes, oldestKubernetes } from '../versions.ts'
import { rke1 } from './facts.ts'
import { dropped, each, parsed, refuse, type Rule, type Table, take } from './rule.ts'
import { text } from './scalars.ts'

const name: Rule = ({ value }) =>
  parsed(text, value, (written) => {
    const path = ['metadata', 'name']
    if (dnsLabel.safeParse(written).success) return take(path, written)
    const label = written
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 63)
      .replace(/^-+|-+$/g, '')
    return take(path, label === '' ? rke1.name : label, 'made a DNS label')
  })

const version: Rule = ({ value }) => {
  const path = ['spec', 'kubernetes']
  if (value === newestKubernetes || value === `v${newestKubernetes}`) return take(path, newestKubernetes)
  const note = `hyperkube starts at ${oldestKubernetes}: ${newestKubernetes} is written; bring workloads up to it first`
  return refuse(note, [{ path, value: newestKubernetes }])
}

const docker = dropped('hyperkube runs containerd, without Docker')
const action = dropped('asks RKE1 to do something once; it is not a setting')

/** What stands at the top of the file. */
export const basics: Table = {
  cluster_name: name,
  kubernetes_version: version,
  system_images: dropped('the version of Kubernetes decides which programs and images are used'),
  prefix_path: dropped('hyperkube has places of its own on a host'),
  win_prefix_path: dropped('hyperkube has places of its own on a host'),
  ...each(
    '',
    [
      'ignore_docker_version',
      'enable_cri_dockerd',
      'cri_dockerd_stream_server_address',
      'cri_dockerd_stream_server_port',
    ],
    docker,
  ),
  ...each('', ['restore', 'rotate_certificates', 'rotate_encryption_key'], action),
}
