import { catalogTargets, helmArtifacts, upstreamArtifacts } from '../src/catalog/artifacts.ts'
import { type KubernetesRelease, listDefaultReleases } from '../src/catalog/catalog.ts'
import { shippedCatalog } from '../src/catalog/shipped-catalog.ts'
import { compareVersions, parseVersion, upgradePath } from '../src/catalog/version.ts'
import { errorCodes } from '../src/error-codes/error-codes.ts'
import { maxKubeletSkew } from '../src/kit/version-skew.ts'
import { computeSkew } from '../src/manager/controllers/version-skew.ts'
import { renderTable } from './markdown-table.ts'

/** Codes of refusals that depend on versions, in the order in which the page lists them. */
const refusalCodes = [
  'CATALOG_UNKNOWN_VERSION',
  'UPGRADE_DOWNGRADE',
  'UPGRADE_SKIPS_MINOR',
  'UPGRADE_NO_PATH',
  'UPGRADE_SKEW',
] as const

/** Renders docs/reference/versions.md from the catalog and from the rules that the code enforces. */
export function renderVersionsReference(
  releases: readonly KubernetesRelease[] = listDefaultReleases(shippedCatalog),
): string {
  const versions = releases.map(({ kubernetes }) => kubernetes)
  return `# Supported versions

Made by \`npm run reference\` from the catalog in src/catalog; do not edit. \`spec.kubernetes\` selects a Kubernetes version, and with it the
versions of all other components. The lab builds the versions of this page; [evidence](../evidence/minors.md) lists
what ran on each minor. Every other patch version of these minors is
accepted too, with the components of its minor: a new patch needs no new release of hyperkube. A [signed
catalog](../how-to/update-catalog.md) adds minors and changes components; \`hyperkube catalog list\` shows those of your cluster.
[What ran on each minor](../evidence/minors.md) is recorded.

\`hyperkube lock\` pins the digests of the programs of \`cluster.yml\` in \`cluster.lock\`.

## Programs

Kubernetes is kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kube-proxy and kubectl.

${renderTable(['component', 'platforms', 'checksum', ...versions.map((version) => `Kubernetes ${version}`)], listPrograms(releases))}

*published* is a checksum file of upstream, which \`hyperkube lock\` reads. *computed* means that upstream publishes none: the digest in
\`cluster.lock\` is that of the first download. A digest that is part of the hyperkube release comes first
([details](../explanation/security.md#supply-chain)).

etcd has the minor that upstream chose for this Kubernetes minor, in its newest patch. All other programs are the same for all minors: they talk
to Kubernetes through interfaces that all these minors have (CRI v1, CNI 1.0, stable APIs). One version of each to patch serves every minor.

## Images

${renderTable(['image', ...versions.map((version) => `Kubernetes ${version}`)], listImages(releases))}

## Upgrades

\`hyperkube upgrade --to VERSION\` upgrades one minor version after the other. [Upgrade](../how-to/upgrade.md) describes the order.

${renderTable(['from', 'to', 'versions on the way'], listUpgrades(versions))}

## Version skew

API servers are upgraded before kubelets. A kubelet may be up to ${maxKubeletSkew} minor versions older than its API server, and never newer. So
\`up\` changes no kubelet to another minor version while a control plane is unreachable
([\`ROLLOUT_CONTROL_PLANE_UNREACHABLE\`](errors.md#rollout_control_plane_unreachable)). The controller [\`version-skew\`](controllers.md#version-skew) reports nodes outside these limits. With API servers of the newest version:

${renderTable(['kubelet', 'rating'], listSkews(versions))}

## Refused changes

Each of these errors stops \`plan\`, \`up\` or \`upgrade\` before the first change.

${renderTable(
  ['code', 'reason'],
  refusalCodes.map((code) => [`[\`${code}\`](errors.md#${code.toLowerCase()})`, getSummary(code)]),
)}
`
}

function listPrograms(releases: readonly KubernetesRelease[]): string[][] {
  const artifacts = releases.flatMap((release) =>
    catalogTargets.flatMap((target) =>
      [...upstreamArtifacts(release, target), ...helmArtifacts(target)].map((artifact) => ({
        ...artifact,
        kubernetes: release.kubernetes,
        // All programs of Kubernetes have the same version, so they share a row.
        component: artifact.version === release.kubernetes ? 'Kubernetes' : artifact.component,
      })),
    ),
  )
  return [...Map.groupBy(artifacts, ({ component }) => component)].map(([component, all]) => [
    component,
    [...new Set(all.map(({ os, arch }) => `${os}/${arch}`))].join(', '),
    all.every(({ checksum }) => checksum !== undefined) ? 'published' : 'computed',
    ...releases.map(
      ({ kubernetes }) => all.find((artifact) => artifact.kubernetes === kubernetes)?.version ?? '',
    ),
  ])
}

function listImages(releases: readonly KubernetesRelease[]): string[][] {
  const names = [...new Set(releases.flatMap(({ images }) => Object.keys(images)))]
  return names.map((name) => [
    name,
    ...releases.map(({ images }) => (images[name] === undefined ? '' : `\`${images[name]}\``)),
  ])
}

function listUpgrades(versions: readonly string[]): string[][] {
  const sorted = versions.toSorted(compareVersions)
  return sorted.flatMap((from, index) =>
    sorted.slice(index + 1).map((to) => [from, to, upgradePath(from, to, versions).join(', ')]),
  )
}

const skewTexts: Readonly<Record<ReturnType<typeof computeSkew>, string>> = {
  supported: 'supported',
  newer: 'not supported: newer than the API server',
  'too-old': 'not supported: too old',
  unknown: 'unknown',
}

/**
 * Rates each kubelet minor version, from one above the newest API server to one below the oldest that is
 * allowed.
 */
function listSkews(versions: readonly string[]): string[][] {
  const newest = versions.toSorted(compareVersions).at(-1) ?? ''
  const [major, minor] = parseVersion(newest)
  return Array.from({ length: maxKubeletSkew + 3 }, (_, index) => `${major}.${minor + 1 - index}`).map(
    (kubelet) => [kubelet, skewTexts[computeSkew(`v${kubelet}.0`, `v${newest}`)]],
  )
}

function getSummary(code: (typeof refusalCodes)[number]): string {
  const entry = errorCodes[code]
  if (entry === undefined) throw new Error(`there is no error code ${code}`)
  return entry.summary
}
