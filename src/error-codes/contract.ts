import type { Entries } from './entry.ts'

export const contract: Entries = {
  CONTRACT_OTHER_KIND: {
    summary: 'A document is of another kind than the one expected here.',
    meaning: 'A wrong file was named, or something else than hyperkube wrote it.',
    remedy: 'Look at its `apiVersion` and `kind`; name the right file.',
  },
  CONTRACT_VERSION: {
    summary: 'A document is of a version that this hyperkube cannot read.',
    meaning: 'The hyperkube here and the one that wrote it are more than one minor release apart.',
    remedy:
      '`hyperkube version` on both sides; bring the older one to the release before the newer one’s, or to the same.',
  },
  CONTRACT_NOT_VALID: {
    summary: 'A document does not hold what its version promises.',
    meaning: 'It was changed by hand or is damaged. The message names the places.',
    remedy: 'Have it made again by the program that wrote it. If that is hyperkube, please report it.',
  },
}
