package link

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a server and all its descendants, held together by a job object. Two jobs are at work, nested:
//
// The outer one holds bouncer itself from before the first server starts (see contain), so that no process can be started outside it. Its handle is
// closed by the system when bouncer ends, in whatever way, and with it ends everything inside. It can't be terminated to stop a server: bouncer
// is in it.
//
// The inner one holds the server alone and can be terminated. The server is put into it right after its creation. A process that it managed to start in
// between would escape the inner job, and live until bouncer ends; creating the server suspended would close this gap, but package os
// doesn't hand out the thread to resume.
type tree struct {
	note    func(string)
	process *os.Process
	job     windows.Handle // 0 if there is none; then only the server itself can be killed
	once    sync.Once
}

func newTree(note func(string)) *tree { return &tree{note: note} }

// contain puts bouncer into a job that ends everything inside when its last handle closes. The one handle is kept until bouncer ends, so that whatever else
// bouncer may start ends with it, too.
var contain = sync.OnceValue(func() error { //nolint:gochecknoglobals // a process can't leave a job, so it must join only once
	job, err := newJob()
	if err != nil {
		return err
	}
	if err := windows.AssignProcessToJobObject(job, windows.CurrentProcess()); err != nil {
		_ = windows.CloseHandle(job) // the job is empty
		return fmt.Errorf("assign bouncer to a job: %w", err)
	}
	return nil
})

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create a job: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job) // the job is empty
		return 0, fmt.Errorf("limit a job: %w", err)
	}
	return job, nil
}

func (t *tree) start(path string, s Spec, files []*os.File) (*os.Process, error) {
	if err := contain(); err != nil {
		t.note("the server may outlive a kill of bouncer: " + err.Error())
	}
	// A client with windows but no console would see one flash up for each server.
	sys := &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
	args := append([]string{s.Command}, s.Args...)
	if needsShell(path) {
		line, err := batchLine(path, s.Args)
		if err != nil {
			return nil, err
		}
		system, err := windows.GetSystemDirectory()
		if err != nil {
			return nil, err
		}
		sys.CmdLine, path, args = line, system+`\cmd.exe`, []string{"cmd.exe"}
	}
	process, err := os.StartProcess(path, args, &os.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files, Sys: sys})
	if err != nil {
		return nil, err
	}
	t.process = process
	if t.job, err = jobOf(process); err != nil {
		t.note("what the server starts may outlive it: " + err.Error())
	}
	return process, nil
}

// jobOf returns a new job that holds process.
func jobOf(process *os.Process) (windows.Handle, error) {
	job, err := newJob()
	if err != nil {
		return 0, err
	}
	failed := process.WithHandle(func(handle uintptr) {
		err = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if failed != nil {
		err = failed
	}
	if err != nil {
		_ = windows.CloseHandle(job) // the job is empty
		return 0, fmt.Errorf("assign the server to a job: %w", err)
	}
	return job, nil
}

func (t *tree) reaped() {}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime      int64
	pageFaults, processes, activeProcesses, terminatedProcesses uint32
}

// gone reports whether the job is empty. It is asked only after the server itself has ended.
func (t *tree) gone() bool {
	if t.job == 0 {
		return true
	}
	var a accounting
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.activeProcesses == 0
}

// terminate does nothing: Windows has no way to ask a process without a window or a shared console to end.
func (t *tree) terminate() bool { return false }

func (t *tree) kill() {
	if t.job == 0 || windows.TerminateJobObject(t.job, 1) != nil {
		_ = t.process.Kill() // fails if it has ended
	}
}

// release closes the job, which ends what might be left in it.
func (t *tree) release() {
	t.once.Do(func() {
		if t.job != 0 {
			_ = windows.CloseHandle(t.job) // nothing to be done about a failure
		}
	})
}

// runnable returns nil for a file that can be run.
func runnable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &os.PathError{Op: "run", Path: file, Err: syscall.EISDIR}
	}
	return nil
}
