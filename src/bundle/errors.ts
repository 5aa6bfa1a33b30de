import { HyperkubeError } from '../kit/errors.ts'

export function bundleDamaged(what: string): HyperkubeError {
  return new HyperkubeError('BUNDLE_DAMAGED', `the bundle is not as it was made: ${what}`, {
    hint: 'copy it again from where it was made; hyperkube bundle verify FILE says whether it is whole',
  })
}

export function digestMismatch(what: string, sha256: string, found: string): HyperkubeError {
  const message = `${what} is not what cluster.lock says: its SHA-256 is ${found}, and should be ${sha256}`
  return new HyperkubeError('BUNDLE_WRONG_BYTES', message, {
    hint: 'fix the file at its source; hyperkube lock --check says whether upstream has changed it',
  })
}

export function bundleNotTrusted(): HyperkubeError {
  const message =
    'what says what is in the bundle is not signed by this cluster’s key: it was changed, or made by others'
  return new HyperkubeError('BUNDLE_NOT_TRUSTED', message, {
    hint: 'copy it again; for a bundle of others: hyperkube bundle verify FILE --public-key KEY, with the key that they tell you',
  })
}
