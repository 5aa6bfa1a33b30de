import { locateArtifact } from '../../catalog/artifact-source.ts'
import type { ArtifactTarget } from '../../catalog/artifacts.ts'
import type { KubernetesRelease } from '../../catalog/catalog.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import type { Lock } from '../../catalog/lock.ts'
import { proxyLoginFile } from '../../contract/download-settings.ts'
import type { Finding } from '../../contract/finding.ts'
import { stripDigest } from '../../contract/image-reference.ts'
import { registryLoginName } from '../../identity/secret-files.ts'
import { isCaText } from '../../kit/ca-text.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { describeInvalidCa, listCaFiles } from '../../spec/download-route.ts'
import { readOidcFlags } from '../../spec/oidc.ts'
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

/** Finds files for kube-apiserver that cluster.yml names and that do not exist. */
export const checkApiServerFiles: ClusterCheck = ({ cluster, attachments }) => {
  const { security, components } = cluster.spec
  const named: readonly (readonly [path: string, file: string | undefined])[] = [
    ['spec.security.audit.policy', security.audit.policy],
    ['spec.components.apiServer.args.oidc-ca-file', readOidcFlags(components.apiServer.args)?.caFile],
  ]
  return named.flatMap(([path, file]): Finding[] => {
    if (file === undefined || attachments.has(file)) return []
    return [
      {
        code: 'PLAN_FILE_MISSING',
        severity: 'error',
        message: missingFileMessage(file),
        hint: missingFileHint(file),
        path,
        component: 'kube-apiserver',
      },
    ]
  })
}

/** Checks the CA certificates of the OIDC provider, which become part of the plan. */
export const checkOidcCa: ClusterCheck = ({ cluster, attachments }) => {
  const file = readOidcFlags(cluster.spec.components.apiServer.args)?.caFile
  const text = file === undefined ? undefined : attachments.get(file)
  if (text === undefined || isCaText(text)) return []
  return [
    {
      code: 'OIDC_INVALID',
      severity: 'error',
      message: `${file} must contain CA certificates in PEM format and no private key`,
      hint: `show its contents: openssl x509 -noout -subject -in ${file}`,
      path: 'spec.components.apiServer.args.oidc-ca-file',
      component: 'kube-apiserver',
    },
  ]
}

function missingFileMessage(file: string): string {
  return `the file ${file} does not exist in the directory of cluster.yml`
}

function missingFileHint(file: string): string {
  return `put ${file} into the directory of cluster.yml`
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
      const message = `the registry ${host} has a password, but no username`
      return [{ ...common, message, hint: 'set username to the account of the password', path }]
    }
    const message = `cluster.identity has no secret ${password.secret}, the password for ${host}`
    const hint = `hyperkube secret set ${password.secret}; or remove the password from cluster.yml`
    return [{ ...common, message, hint, path: `${path}.password` }]
  })

/** Finds a login of the proxy whose password is missing in the identity. */
export const checkProxyPassword: ClusterCheck = ({ cluster, identity }) => {
  const { password } = cluster.spec.proxy ?? {}
  if (password === undefined || identity.tags.has(proxyLoginFile)) return []
  return [
    {
      code: 'PLAN_SECRET_MISSING',
      severity: 'error',
      message: `cluster.identity has no secret ${password.secret}, the password for the proxy`,
      hint: `hyperkube secret set ${password.secret}; or remove the login from spec.proxy`,
      path: 'spec.proxy.password',
    },
  ]
}

/** Checks the CA files for downloads and images, which become part of the plan. */
export const checkCaFiles: ClusterCheck = ({ cluster, attachments }) =>
  listCaFiles(cluster).flatMap(({ file, path }): Finding[] => {
    const text = attachments.get(file)
    if (text === undefined)
      return [
        {
          code: 'PLAN_FILE_MISSING',
          severity: 'error',
          message: missingFileMessage(file),
          hint: missingFileHint(file),
          path,
        },
      ]
    return isCaText(text)
      ? []
      : [{ code: 'CA_FILE_INVALID', severity: 'error', ...describeInvalidCa(file), path }]
  })

/** Checks that the lock pins everything that the release needs on the platforms of all hosts. */
export const checkLockFits: ClusterCheck = ({
  lock,
  release,
  heldRelease,
  workersRelease,
  facts,
  images = [],
}) => {
  const targets = new Map<string, ArtifactTarget>()
  for (const { system } of facts.values()) {
    const { os, arch } = system
    if (os === 'linux') targets.set(`${os}/${arch}`, { os, arch })
    // A host check reports other Windows architectures.
    else if (arch === 'amd64') targets.set(`${os}/${arch}`, { os, arch })
  }
  const inOrder = [...targets].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
  return [
    ...checkLock(lock, {
      release,
      held: heldRelease,
      targets: inOrder,
      images: selectImages(release, images),
    }),
    ...(workersRelease === undefined ? [] : checkWorkersLock(lock, workersRelease, inOrder)),
  ]
}

/** Checks the pins of workers that have another version than control planes. */
function checkWorkersLock(
  { workers }: Lock,
  release: KubernetesRelease,
  targets: readonly ArtifactTarget[],
): readonly Finding[] {
  if (workers !== undefined)
    return checkLock(workers, { release, targets, images: selectImages(release, []) })
  const message = `the lock has no files of Kubernetes ${release.kubernetes}, the version of workers`
  return [{ code: 'LOCK_OTHER_KUBERNETES', severity: 'error', message, hint: 'hyperkube lock' }]
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
