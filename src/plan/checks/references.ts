import { locateArtifact } from '../../catalog/artifact-source.ts'
import type { ArtifactTarget } from '../../catalog/artifacts.ts'
import type { KubernetesRelease } from '../../catalog/catalog.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import type { Finding } from '../../contract/finding.ts'
import { stripDigest } from '../../contract/image-reference.ts'
import { registryLoginName } from '../../identity/secret-files.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { type ClusterCheck, type HostCheck, hostError } from './check.ts'

/** Finds source files that cluster.yml lists for a host and that do not exist. */
export const checkHostFiles: HostCheck = (subject) => {
  const { host, index, attachments } = subject
  return host.files.flatMap(({ source }, fileIndex) => {
    if (source === undefined || attachments.has(source)) return []
    const path = `spec.hosts[${index}].files[${fileIndex}].source`
    return [
      hostError(subject, 'PLAN_FILE_MISSING', missingFileMessage(source), {
        hint: missingFileHint(source),
        path,
      }),
    ]
  })
}

export const checkAuditPolicyFile: ClusterCheck = ({ cluster, attachments }) => {
  const { policy } = cluster.spec.security.audit
  if (policy === undefined || attachments.has(policy)) return []
  const path = 'spec.security.audit.policy'
  return [
    {
      code: 'PLAN_FILE_MISSING',
      severity: 'error',
      message: missingFileMessage(policy),
      hint: missingFileHint(policy),
      path,
      component: 'kube-apiserver',
    },
  ]
}

function missingFileMessage(file: string): string {
  return `there is no file ${file} beside cluster.yml`
}

function missingFileHint(file: string): string {
  return `put ${file} beside cluster.yml`
}

/**
 * Finds registries with a password for which a login cannot be built: the user name is missing in
 * cluster.yml, or the password in the identity.
 */
export const checkRegistryLogins: ClusterCheck = ({ cluster, identity }) =>
  cluster.spec.registries.flatMap(({ host, username, password }, index): Finding[] => {
    if (password === undefined || identity.tags.has(registryLoginName(host))) return []
    const common = { code: 'PLAN_SECRET_MISSING', severity: 'error', component: 'containerd' } as const
    const path = `spec.registries[${index}]`
    // A login needs a user name in addition to the password.
    if (username === undefined) {
      const message = `the registry ${host} has a password and no username`
      return [{ ...common, message, hint: 'username: the one that the password belongs to', path }]
    }
    const message = `the identity has no secret ${password.secret}, which is the password for ${host}`
    const hint = `put ${password.secret} into the identity, or take the password out of cluster.yml`
    return [{ ...common, message, hint, path: `${path}.password` }]
  })

/** Checks that the lock fits the release for the platforms of all hosts. */
export const checkLockFits: ClusterCheck = ({ lock, release, facts, images = [] }) => {
  const targets = new Map<string, ArtifactTarget>()
  for (const { system } of facts.values()) {
    const { os, arch } = system
    if (os === 'linux') targets.set(`${os}/${arch}`, { os, arch })
    // Other Windows architectures are reported by a host check.
    else if (arch === 'amd64') targets.set(`${os}/${arch}`, { os, arch })
  }
  const inOrder = [...targets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
  return checkLock(lock, release, inOrder, selectImages(release, images))
}

/** Selects the release images that the cluster needs. The sandbox image is always included. */
function selectImages({ images }: KubernetesRelease, wanted: readonly string[]): KubernetesRelease['images'] {
  const names = new Set(wanted.map(stripDigest))
  return Object.fromEntries(
    Object.entries(images).filter(([name, image]) => name === 'pause' || names.has(image)),
  )
}

/** Checks the artifact source early. Otherwise planning would fail at the first artifact. */
export const checkArtifactSource: ClusterCheck = ({ cluster }) => {
  try {
    locateArtifact('https://dl.k8s.io/', cluster.spec.artifacts)
    return []
  } catch (problem) {
    if (!(problem instanceof HyperkubeError)) throw problem
    const { code, message, hint } = problem
    const path = 'spec.artifacts'
    return [{ code, severity: 'error', message, ...(hint === undefined ? {} : { hint }), path }]
  }
}
