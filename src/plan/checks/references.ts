import { checkLock } from '../../catalog/check-lock.ts'
import type { Release } from '../../catalog/kubernetes-release.ts'
import { locate } from '../../catalog/artifact-source.ts'
import type { Target } from '../../catalog/artifact-target.ts'
import type { Finding } from '../../contract/finding.ts'
import { withoutDigest } from '../../contract/image-reference.ts'
import { registryLoginName } from '../../identity/secret-files.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ClusterCheck, error, type HostCheck } from './check.ts'

/** Files that a host shall have and that are not beside cluster.yml. */
export const hostFiles: HostCheck = (subject) => {
  const { host, index, attachments } = subject
  return host.files.flatMap(({ source }, place) => {
    if (source === undefined || attachments.has(source)) return []
    const path = `spec.hosts[${index}].files[${place}].source`
    return [error(subject, 'PLAN_FILE_MISSING', absent(source), { hint: bring(source), path })]
  })
}

export const auditPolicyFile: ClusterCheck = ({ cluster, attachments }) => {
  const { policy } = cluster.spec.security.audit
  if (policy === undefined || attachments.has(policy)) return []
  const path = 'spec.security.audit.policy'
  return [
    {
      code: 'PLAN_FILE_MISSING',
      severity: 'error',
      message: absent(policy),
      hint: bring(policy),
      path,
      component: 'kube-apiserver',
    },
  ]
}

function absent(file: string): string {
  return `there is no file ${file} beside cluster.yml`
}

function bring(file: string): string {
  return `put ${file} beside cluster.yml`
}

/** Passwords of registries that the identity does not hold. */
export const registryLogins: ClusterCheck = ({ cluster, identity }) =>
  cluster.spec.registries.flatMap(({ host, username, password }, index): Finding[] => {
    if (password === undefined || identity.tags.has(registryLoginName(host))) return []
    const common = { code: 'PLAN_SECRET_MISSING', severity: 'error', component: 'containerd' } as const
    const path = `spec.registries[${index}]`
    // Without a name there is no login to make, whatever the identity holds.
    if (username === undefined) {
      const message = `the registry ${host} has a password and no username`
      return [{ ...common, message, hint: 'username: the one that the password belongs to', path }]
    }
    const message = `the identity has no secret ${password.secret}, which is the password for ${host}`
    const hint = `put ${password.secret} into the identity, or take the password out of cluster.yml`
    return [{ ...common, message, hint, path: `${path}.password` }]
  })

/** A lock that does not fit the release, for the kinds of machines that there are. */
export const lockFits: ClusterCheck = ({ lock, release, facts, images = [] }) => {
  const targets = new Map<string, Target>()
  for (const { system } of facts.values()) {
    const { os, arch } = system
    if (os === 'linux') targets.set(`${os}/${arch}`, { os, arch })
    // Another Windows is a finding of the host itself.
    else if (arch === 'amd64') targets.set(`${os}/${arch}`, { os, arch })
  }
  const inOrder = [...targets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
  return checkLock(lock, release, inOrder, imagesAmong(release, images))
}

/** Of a release's images those that a cluster needs; the sandbox's in any case. */
function imagesAmong({ images }: Release, wanted: readonly string[]): Release['images'] {
  const names = new Set(wanted.map(withoutDigest))
  return Object.fromEntries(
    Object.entries(images).filter(([name, image]) => name === 'pause' || names.has(image)),
  )
}

/** A source that nothing can be taken from would stop the plan at the first artifact. */
export const artifactSource: ClusterCheck = ({ cluster }) => {
  try {
    locate('https://dl.k8s.io/', cluster.spec.artifacts)
    return []
  } catch (problem) {
    if (!(problem instanceof HyperkubeError)) throw problem
    const { code, message, hint } = problem
    const path = 'spec.artifacts'
    return [{ code, severity: 'error', message, ...(hint === undefined ? {} : { hint }), path }]
  }
}
