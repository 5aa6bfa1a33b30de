import { describe } from 'vitest'
import { dialling } from './dialling.ts'
import { ending } from './ending.ts'
import { executing } from './executing.ts'
import type { Subject } from './subject.ts'
import { talking } from './talking.ts'
import { uploading } from './uploading.ts'

/** What every Remote does alike, by whatever way: tests, for the suites to run against theirs. */
export function remoteContract(name: string, subject: Subject): void {
  describe(`a remote: ${name}`, () => {
    executing(subject)
    ending(subject)
    talking(subject)
    uploading(subject)
    dialling(subject)
  })
}
