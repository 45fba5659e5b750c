/* motet ct project: line integrals of a volume. motet ct backproject: the transpose. */
#include "ct_task.h"

static motet_status project(ct_task *t, void *user)
{
    (void)user;
    return motet_ct_project(t->geometry, t->volume, t->sinogram);
}

static motet_status backproject(ct_task *t, void *user)
{
    (void)user;
    return motet_ct_backproject(t->geometry, t->sinogram, t->volume);
}

static motet_status project_on_disk(ct_task *t, void *user)
{
    (void)user;
    return motet_ct_project_store(t->geometry, t->store, t->output.store);
}

static motet_status backproject_on_disk(ct_task *t, void *user)
{
    (void)user;
    return motet_ct_backproject_store(t->geometry, t->store, t->output.store);
}

int run_ct_project(const args *a)
{
    static const ct_task_kind kind = {.operation = MOTET_CT_PROJECT,
                                      .projects = 1,
                                      .journal = 1,
                                      .stage = "project",
                                      .work = project,
                                      .work_on_disk = project_on_disk};
    run r;
    const int code = run_begin(&r, a);
    return code ? code : run_end(&r, ct_task_run(&r, &kind, NULL));
}

int run_ct_backproject(const args *a)
{
    static const ct_task_kind kind = {.operation = MOTET_CT_BACKPROJECT,
                                      .journal = 1,
                                      .stage = "back-project",
                                      .work = backproject,
                                      .work_on_disk = backproject_on_disk};
    run r;
    const int code = run_begin(&r, a);
    return code ? code : run_end(&r, ct_task_run(&r, &kind, NULL));
}
