import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import packageFile from '../../package.json' with { type: 'json' }
import { differenceFormat } from '../addons/addon-difference.ts'
import { inventoryFormat } from '../addons/inventory.ts'
import { heldLockFormat } from '../agent/operator-lock/operator-lock-store.ts'
import { bundleFormat } from '../bundle/manifest.ts'
import { readLock } from '../catalog/lock.ts'
import { releaseDigestsFormat } from '../catalog/release-digests.ts'
import { readSignedCatalog } from '../catalog/signed-catalog.ts'
import { testCatalogPublicKey } from '../catalog/testing/test-catalog.ts'
import { clusterStatusSchema } from '../contract/cluster-status.ts'
import { downloadSettingsFormat } from '../contract/download-settings.ts'
import { etcdRestoreStateFormat } from '../contract/etcd-restore.ts'
import { eventFormat } from '../contract/event.ts'
import { basicFactsFormat, factsFormat } from '../contract/facts.ts'
import { healStateFormat } from '../contract/health.ts'
import { hostCallFormat, hostCallResponseFormat } from '../contract/host-call.ts'
import { hostRequestStateFormat, hostSpec, hostStatus } from '../contract/host-resource.ts'
import { artifactManifestFormat, ledgerFormat } from '../contract/ledger.ts'
import { managerSettingsFormat } from '../contract/manager-settings.ts'
import { nodePlanFormat } from '../contract/node-plan.ts'
import { journalEntryFormat } from '../contract/op.ts'
import { provisionalStateFormat } from '../contract/provisional-change.ts'
import { proxyConfigurationFormat, proxyStateFormat } from '../contract/proxy-configuration.ts'
import { requestFormat, responseFormat } from '../contract/request.ts'
import { type Format, readVersioned } from '../contract/versioned.ts'
import { windowsNetworkFormat } from '../contract/windows-network.ts'
import { previousAgentFormat, serviceRestartsFormat, workerStateFormat } from '../contract/windows-state.ts'
import { desiredDocumentFormat } from '../fleet/desired-document.ts'
import { fleetRunFormat } from '../fleet/fleet-run.ts'
import { memberStateFormat } from '../fleet/member-state.ts'
import { passphraseKey, parseKeyFile } from '../identity/sealing-key.ts'
import { unsealIdentity } from '../identity/seal.ts'
import { planFormat } from '../lifecycle/proposal/plan-approval.ts'
import { approvalKind, clusterSetKind, managedClusterKind, rolloutKind } from '../manager/fleet/resources.ts'
import { snapshotFormat } from '../snapshot/manifest.ts'
import { readCluster } from '../spec/read-cluster.ts'
import { readFleet } from '../spec/read-fleet.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Formats of documents in JSON, by the kind in the document. */
const formats: readonly Format<unknown>[] = [
  artifactManifestFormat,
  basicFactsFormat,
  bundleFormat,
  desiredDocumentFormat,
  differenceFormat,
  downloadSettingsFormat,
  etcdRestoreStateFormat,
  eventFormat,
  factsFormat,
  fleetRunFormat,
  healStateFormat,
  heldLockFormat,
  hostCallFormat,
  hostCallResponseFormat,
  hostRequestStateFormat,
  inventoryFormat,
  journalEntryFormat,
  ledgerFormat,
  managerSettingsFormat,
  memberStateFormat,
  nodePlanFormat,
  planFormat,
  previousAgentFormat,
  provisionalStateFormat,
  proxyConfigurationFormat,
  proxyStateFormat,
  releaseDigestsFormat,
  requestFormat,
  responseFormat,
  serviceRestartsFormat,
  snapshotFormat,
  windowsNetworkFormat,
  workerStateFormat,
]

/** Objects of a management plane, by their kind. */
const fleetKinds = [approvalKind, clusterSetKind, managedClusterKind, rolloutKind]

const versioned = z.looseObject({ kind: z.string() })
const object = z.looseObject({ spec: z.unknown().optional(), status: z.unknown() })

function readJson(path: string): void {
  const content: unknown = JSON.parse(read(path))
  for (const document of Array.isArray(content) ? content : [content]) {
    const { kind } = versioned.parse(document)
    const format = formats.find((candidate) => candidate.kind === kind)
    const fleetKind = fleetKinds.find((candidate) => candidate.kind === kind)
    if (kind === 'ClusterStatus') clusterStatusSchema.parse(object.parse(document).status)
    else if (kind === 'Host') {
      hostSpec.parse(object.parse(document).spec)
      hostStatus.parse(object.parse(document).status)
    } else if (fleetKind !== undefined) fleetKind.schema.parse(document)
    else if (format === undefined) throw new Error(`no format has the kind ${kind}`)
    else readVersioned(format, document)
  }
}

/** Reads the files whose path matches. The first match counts. */
const readers: readonly (readonly [RegExp, (path: string) => unknown])[] = [
  [/\.lock$/, (path) => readLock(path, read(path))],
  [/\.catalog$/, (path) => readSignedCatalog(path, read(path), [testCatalogPublicKey])],
  [/v1\.key$/, (path) => parseKeyFile(read(path))],
  [/v1-passphrase\.sealed$/, async (path) => unsealIdentity(read(path), passphraseKey('golden caf\u00E9'))],
  [
    /\.sealed$/,
    async (path) => unsealIdentity(read(path), parseKeyFile(read('src/identity/testdata/v1.key'))),
  ],
  [
    /\/cluster-[\w-]+\.v1\.yml$/,
    (path) => expectValid(readCluster({ file: path, text: read(path) }).findings),
  ],
  [/\/fleet\.v1\.yml$/, (path) => expect(readFleet({ file: path, text: read(path) }).ok).toBe(true)],
  [/\.json$/, readJson],
]

/** Warnings may be added by later releases. */
function expectValid(findings: readonly { readonly severity: string }[]): void {
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
}

const releases = globSync('scripts/goldens/*.sha256', { cwd: root }).toSorted()

test('the golden files of this version are frozen', () => {
  // Before a release: npm run goldens
  expect(releases).toContain(`scripts/goldens/${packageFile.version}.sha256`)
})

describe.each(releases)('%s', (release) => {
  const entries = read(release)
    .trim()
    .split('\n')
    .map((line) => line.split('  '))

  test.each(entries)('%s %s', { timeout: 120_000 }, async (sha256 = '', path = '') => {
    // A released file must not change: add a file for a new version of the format. `npm run goldens` updates
    // the list of a version that is not released yet.
    expect(
      createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('hex'),
    ).toBe(sha256)
    const reader = readers.find(([pattern]) => pattern.test(path))?.[1]
    if (reader === undefined) throw new Error(`${path} has no reader`)
    await reader(path)
  })
})
