import { createPrivateKey, createPublicKey } from 'node:crypto'
import { formatPublicKey } from '../../kit/signature.ts'
import { type CatalogDocument, formatCatalogDocument } from '../catalog-document.ts'
import { shippedDocument } from '../shipped-catalog.ts'
import { signCatalog } from '../signed-catalog.ts'

/** Key that signs catalogs in tests. It is fixed, so that a signed catalog can be a golden file. */
export const testCatalogKey = createPrivateKey({
  key: Buffer.from(`302e020100300506032b657004220420${'11'.repeat(32)}`, 'hex'),
  format: 'der',
  type: 'pkcs8',
})
export const testCatalogPublicKey = formatPublicKey(createPublicKey(testCatalogKey))

/** A serial that is higher than that of the release. */
export const testCatalogSerial = shippedDocument.serial + 100

/** The catalog of the release with another etcd for 1.36, and with the minor 1.99, which does not exist. */
export function buildTestCatalog(serial = testCatalogSerial): CatalogDocument {
  const { minors, flags } = shippedDocument
  const [newest] = minors
  if (newest === undefined) throw new Error('the release has no minor')
  return {
    ...shippedDocument,
    serial,
    minors: [
      {
        ...newest,
        minor: '1.99',
        defaultPatch: '1.99.3',
        components: { ...newest.components, etcd: '3.99.1' },
      },
      ...minors.map((one) =>
        one.minor === '1.36' ? { ...one, components: { ...one.components, etcd: '3.6.99' } } : one,
      ),
    ],
    flags: {
      ...flags,
      kubernetes: {
        ...flags.kubernetes,
        changes: [
          ...flags.kubernetes.changes,
          {
            minor: '1.99',
            programs: { kubelet: { added: { 'new-flag': 'boolean' }, removed: { v: 'value' } } },
          },
        ],
      },
      etcd: { ...flags.etcd, changes: [...flags.etcd.changes, { minor: '3.99', programs: {} }] },
    },
  }
}

/** Returns the text of the signed test catalog. */
export function signTestCatalog(serial?: number): string {
  return signCatalog(formatCatalogDocument(buildTestCatalog(serial)), testCatalogKey)
}
