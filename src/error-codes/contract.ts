import type { ErrorCodeEntries } from './entry.ts'

export const contractCodes: ErrorCodeEntries = {
  CONTRACT_OTHER_KIND: {
    summary: 'A document has an unexpected kind.',
    meaning: 'The wrong file was passed, or another program wrote it.',
    remedy: 'Check its `apiVersion` and `kind`, and pass the right file.',
  },
  CONTRACT_VERSION: {
    summary: 'This hyperkube release cannot read the version of a document.',
    meaning: 'The release that wrote it is more than one minor release apart.',
    remedy:
      'Compare `hyperkube version` on both sides. Upgrade the older one to at most one minor release before the newer one.',
  },
  CONTRACT_NOT_VALID: {
    summary: 'A document does not match the schema of its version.',
    meaning: 'It was edited by hand or is damaged. The message names the fields.',
    remedy: 'Create it again with the program that wrote it. If that is hyperkube, please report this.',
  },
}
