import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { Host } from '../host/host.ts'

/**
 * Returns a stamp that changes whenever a certificate or its key file does. Reads only file metadata, so it
 * is cheap to call.
 */
export async function readCertificateStamp(
  { files }: Pick<Host, 'files'>,
  { certificateFile, keyFile }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile'>,
): Promise<string> {
  const facts = [await files.stat(certificateFile), await files.stat(keyFile)]
  return facts
    .map((one) => (one === undefined ? '' : `${one.inode} ${one.modified} ${one.changed}`))
    .join(' ')
}
