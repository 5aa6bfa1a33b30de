import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { downloadSettingsFormat } from './download-settings.ts'
import { etcdRestoreStateFormat } from './etcd-restore.ts'
import { eventFormat } from './event.ts'
import { basicFactsFormat, factsFormat } from './facts.ts'
import { healStateFormat } from './health.ts'
import { hostCallFormat, hostCallResponseFormat } from './host-call.ts'
import { hostRequestStateFormat } from './host-resource.ts'
import { artifactManifestFormat, ledgerFormat } from './ledger.ts'
import { managerSettingsFormat } from './manager-settings.ts'
import { nodePlanFormat } from './node-plan.ts'
import { journalEntryFormat } from './op.ts'
import { provisionalStateFormat } from './provisional-change.ts'
import { proxyConfigurationFormat, proxyStateFormat } from './proxy-configuration.ts'
import { requestFormat, responseFormat } from './request.ts'
import { type Format, readVersioned } from './versioned.ts'
import { windowsNetworkFormat } from './windows-network.ts'
import { previousAgentFormat, serviceRestartsFormat, workerStateFormat } from './windows-state.ts'

/**
 * Documents that earlier releases wrote and that every later release must be able to read. The Windows facts
 * are written by hand, because no Windows machine was available.
 */
const goldens: readonly (readonly [file: string, format: Format<unknown>])[] = [
  ['facts-lab-host.v1.json', factsFormat],
  ['facts-windows-2022.v1.json', factsFormat],
  ['basic-facts-windows.v1.json', basicFactsFormat],
  ['node-plan-etcd.v1.json', nodePlanFormat],
  ['node-plan-worker.v1.json', nodePlanFormat],
  ['events.v1.json', eventFormat],
  ['ledger.v1.json', ledgerFormat],
  ['download-settings.v1.json', downloadSettingsFormat],
  ['etcd-restore-state.v1.json', etcdRestoreStateFormat],
  ['heal-state.v1.json', healStateFormat],
  ['previous-agent.v1.json', previousAgentFormat],
  ['host-calls.v1.json', hostCallFormat],
  ['host-call-responses.v1.json', hostCallResponseFormat],
  ['host-request-state.v1.json', hostRequestStateFormat],
  ['journal.v1.json', journalEntryFormat],
  ['manager-settings.v1.json', managerSettingsFormat],
  ['artifact-manifest.v1.json', artifactManifestFormat],
  ['agent-requests.v1.json', requestFormat],
  ['agent-responses.v1.json', responseFormat],
  ['proxy-configuration.v1.json', proxyConfigurationFormat],
  ['proxy-state.v1.json', proxyStateFormat],
  ['service-restarts.v1.json', serviceRestartsFormat],
  ['provisional-state.v1.json', provisionalStateFormat],
  ['windows-network.v1.json', windowsNetworkFormat],
  ['worker-state.v1.json', workerStateFormat],
]

describe.each(goldens)('%s', (file, format) => {
  const content: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'testdata', file), 'utf8'))
  const documents = Array.isArray(content) ? z.array(z.unknown()).parse(content) : [content]

  test('is read without loss of a field', () => {
    for (const document of documents) expect(readVersioned(format, document)).toEqual(document)
  })

  test('is refused with an unknown field', () => {
    for (const document of documents) {
      const strange = { ...z.looseObject({}).parse(document), strange: 1 }
      expect(() => readVersioned(format, strange)).toThrow('strange')
    }
  })
})
