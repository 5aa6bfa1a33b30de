import { describe } from 'vitest'
import { testDialling } from './dialling.ts'
import { testEnding } from './ending.ts'
import { testExecuting } from './executing.ts'
import type { RemoteSubject } from './subject.ts'
import { testRunningPrograms } from './talking.ts'
import { testUploading } from './uploading.ts'

/** Tests of the behaviour that all Remotes share. The tests of each transport call this function. */
export function testRemoteContract(name: string, subject: RemoteSubject): void {
  describe(`a remote: ${name}`, () => {
    testExecuting(subject)
    testEnding(subject)
    testRunningPrograms(subject)
    testUploading(subject)
    testDialling(subject)
  })
}
