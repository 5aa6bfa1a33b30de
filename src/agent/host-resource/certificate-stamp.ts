import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { Host } from '../host/host.ts'

/** The same as long as a certificate and its key are: to ask for it costs nothing. */
export async function pairMark(
  { files }: Pick<Host, 'files'>,
  { certificateFile, keyFile }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile'>,
): Promise<string> {
  const facts = [await files.stat(certificateFile), await files.stat(keyFile)]
  return facts
    .map((one) => (one === undefined ? '' : `${one.inode} ${one.modified} ${one.changed}`))
    .join(' ')
}
