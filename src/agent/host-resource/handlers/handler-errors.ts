import { HyperkubeError } from '../../../kit/errors.ts'

/** What is asked for is nothing that this host could do. */
export function cannot(why: string, hint: string): HyperkubeError {
  return new HyperkubeError('HOST_CANNOT', why, { hint })
}

/** It was free when it was asked; whoever asks again is heard. */
export function taken(): HyperkubeError {
  return new HyperkubeError('HOST_TAKEN', 'somebody else decides now what is done on this host', {
    hint: 'it is asked for again once they are done',
  })
}
