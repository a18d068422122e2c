/* The peer of `karman bench --only solver`: hypre on a Matrix Market system.
 *
 *     mpirun -n PROCESSES hypre MATRIX.mtx RHS.mtx [RELATIVE_RESIDUAL]
 *
 * Preconditioned conjugate gradients from x = 0 until |b - A x| <= RELATIVE_RESIDUAL |b| in the
 * 2-norm (1e-8 where it is left out), with diagonal scaling and with BoomerAMG: PMIS coarsening,
 * extended+i interpolation of at most four entries a row, strength 0.25, one V-cycle, with each of
 * three smoothers. The matrix is coordinate real, general or symmetric; the right-hand side an array.
 * Rows go to processes in equal ranges. Prints a line a solver: iterations, the least seconds of
 * three set-ups and of five solves, the relative residual computed anew. */

#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETUPS = 3, SOLVES = 5 };

static void fail(const char *what, const char *file) {
    fprintf(stderr, "hypre: %s: %s\n", file, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The file after its comments; `symmetric` from the banner, and the line of sizes in `sizes`. */
static FILE *open_market(const char *path, int *symmetric, char *sizes, int room) {
    FILE *file = fopen(path, "r");
    if (file == NULL || fgets(sizes, room, file) == NULL) fail("cannot be read", path);
    if (strncmp(sizes, "%%MatrixMarket matrix", 21) != 0) fail("not a Matrix Market file", path);
    *symmetric = strstr(sizes, "symmetric") != NULL;
    do {
        if (fgets(sizes, room, file) == NULL) fail("the line of sizes is missing", path);
    } while (sizes[0] == '%' || sizes[0] == '\n');
    return file;
}

static HYPRE_IJMatrix read_matrix(const char *path, int rank, int processes, int *rows, int *first,
                                  int *last) {
    char line[256];
    int symmetric, columns, entries;
    FILE *file = open_market(path, &symmetric, line, sizeof line);
    if (sscanf(line, "%d %d %d", rows, &columns, &entries) != 3 || *rows != columns) {
        fail("the sizes of a square matrix are missing", path);
    }
    *first = (int)((long)*rows * rank / processes);
    *last = (int)((long)*rows * (rank + 1) / processes) - 1;
    int n = *last - *first + 1;
    int *i = malloc(sizeof(int) * entries), *j = malloc(sizeof(int) * entries);
    double *a = malloc(sizeof(double) * entries);
    int *length = calloc(n + 1, sizeof(int));
    for (int k = 0; k < entries; k++) {
        if (fscanf(file, "%d %d %lf", &i[k], &j[k], &a[k]) != 3) fail("an entry is missing", path);
        i[k]--;
        j[k]--;
        if (i[k] >= *first && i[k] <= *last) length[i[k] - *first]++;
        if (symmetric && i[k] != j[k] && j[k] >= *first && j[k] <= *last) length[j[k] - *first]++;
    }
    fclose(file);
    int *start = malloc(sizeof(int) * (n + 1)), *at = malloc(sizeof(int) * (n + 1));
    start[0] = 0;
    for (int r = 0; r < n; r++) start[r + 1] = start[r] + length[r];
    memcpy(at, start, sizeof(int) * (n + 1));
    int *column = malloc(sizeof(int) * start[n]), *row = malloc(sizeof(int) * n);
    double *value = malloc(sizeof(double) * start[n]);
    for (int k = 0; k < entries; k++) {
        for (int half = 0; half < (symmetric && i[k] != j[k] ? 2 : 1); half++) {
            int r = half ? j[k] : i[k], c = half ? i[k] : j[k];
            if (r < *first || r > *last) continue;
            column[at[r - *first]] = c;
            value[at[r - *first]++] = a[k];
        }
    }
    for (int r = 0; r < n; r++) row[r] = *first + r;
    HYPRE_IJMatrix matrix;
    HYPRE_IJMatrixCreate(MPI_COMM_WORLD, *first, *last, *first, *last, &matrix);
    HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
    HYPRE_IJMatrixSetRowSizes(matrix, length);
    HYPRE_IJMatrixInitialize(matrix);
    HYPRE_IJMatrixSetValues(matrix, n, length, row, column, value);
    HYPRE_IJMatrixAssemble(matrix);
    free(i), free(j), free(a), free(length), free(start), free(at);
    free(column), free(row), free(value);
    return matrix;
}

/* A vector from a file, or of zeros where `path` is NULL. */
static HYPRE_IJVector read_vector(const char *path, int rows, int first, int last) {
    HYPRE_IJVector vector;
    HYPRE_IJVectorCreate(MPI_COMM_WORLD, first, last, &vector);
    HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
    HYPRE_IJVectorInitialize(vector);
    if (path != NULL) {
        char line[256];
        int symmetric, found, columns;
        FILE *file = open_market(path, &symmetric, line, sizeof line);
        if (sscanf(line, "%d %d", &found, &columns) != 2 || found != rows || columns != 1) {
            fail("not one column with the rows of the matrix", path);
        }
        for (int row = 0; row < rows; row++) {
            double value;
            if (fscanf(file, "%lf", &value) != 1) fail("an entry is missing", path);
            if (row >= first && row <= last) HYPRE_IJVectorSetValues(vector, 1, &row, &value);
        }
        fclose(file);
    }
    HYPRE_IJVectorAssemble(vector);
    return vector;
}

static double now(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static double norm(HYPRE_ParVector x) {
    double square;
    HYPRE_ParVectorInnerProd(x, x, &square);
    return sqrt(square);
}

/* `smoother`: -1 for diagonal scaling, else BoomerAMG's relaxation type. */
static void run(const char *name, int smoother, HYPRE_ParCSRMatrix a, HYPRE_ParVector b,
                HYPRE_ParVector x, HYPRE_ParVector r, double tolerance, int rank) {
    double setup = 1e30, solve = 1e30;
    HYPRE_Solver pcg = NULL, amg = NULL;
    for (int k = 0; k < SETUPS; k++) {
        if (pcg != NULL) HYPRE_ParCSRPCGDestroy(pcg);
        if (amg != NULL) HYPRE_BoomerAMGDestroy(amg);
        HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &pcg);
        HYPRE_PCGSetTol(pcg, tolerance);
        HYPRE_PCGSetTwoNorm(pcg, 1);
        HYPRE_PCGSetMaxIter(pcg, 100000);
        if (smoother < 0) {
            HYPRE_PCGSetPrecond(pcg, (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScale,
                                (HYPRE_PtrToSolverFcn)HYPRE_ParCSRDiagScaleSetup, NULL);
        } else {
            HYPRE_BoomerAMGCreate(&amg);
            HYPRE_BoomerAMGSetPrintLevel(amg, 0);
            HYPRE_BoomerAMGSetCoarsenType(amg, 8);
            HYPRE_BoomerAMGSetInterpType(amg, 6);
            HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
            HYPRE_BoomerAMGSetStrongThreshold(amg, 0.25);
            HYPRE_BoomerAMGSetRelaxType(amg, smoother);
            HYPRE_BoomerAMGSetTol(amg, 0.0);
            HYPRE_BoomerAMGSetMaxIter(amg, 1);
            HYPRE_PCGSetPrecond(pcg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                                (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
        }
        double start = now();
        HYPRE_ParCSRPCGSetup(pcg, a, b, x);
        setup = fmin(setup, now() - start);
    }
    for (int k = 0; k < SOLVES; k++) {
        HYPRE_ParVectorSetConstantValues(x, 0.0);
        double start = now();
        HYPRE_ParCSRPCGSolve(pcg, a, b, x);
        solve = fmin(solve, now() - start);
    }
    int iterations;
    HYPRE_PCGGetNumIterations(pcg, &iterations);
    HYPRE_ParVectorCopy(b, r);
    HYPRE_ParCSRMatrixMatvec(-1.0, a, x, 1.0, r);
    double residual = norm(r) / norm(b);
    if (rank == 0) {
        printf("%-36s %6d iterations  set-up %8.4f s  solve %8.4f s  residual %.1e\n", name,
               iterations, setup, solve, residual);
        fflush(stdout);
    }
    HYPRE_ParCSRPCGDestroy(pcg);
    if (amg != NULL) HYPRE_BoomerAMGDestroy(amg);
}

int main(int count, char **arguments) {
    int rank, processes, rows, first, last;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (count < 3 || count > 4) fail("usage: hypre MATRIX.mtx RHS.mtx [RELATIVE_RESIDUAL]", "");
    double tolerance = count == 4 ? atof(arguments[3]) : 1e-8;
    HYPRE_Init();
    HYPRE_IJMatrix matrix = read_matrix(arguments[1], rank, processes, &rows, &first, &last);
    HYPRE_IJVector vectors[3];
    HYPRE_ParVector v[3];
    for (int k = 0; k < 3; k++) {
        vectors[k] = read_vector(k == 0 ? arguments[2] : NULL, rows, first, last);
        HYPRE_IJVectorGetObject(vectors[k], (void **)&v[k]);
    }
    HYPRE_ParCSRMatrix a;
    HYPRE_IJMatrixGetObject(matrix, (void **)&a);
    if (rank == 0) printf("hypre %s, %d rows, %d processes\n", HYPRE_RELEASE_VERSION, rows, processes);
    run("CG + Jacobi", -1, a, v[0], v[1], v[2], tolerance, rank);
    run("CG + BoomerAMG, symmetric l1-GS", 8, a, v[0], v[1], v[2], tolerance, rank);
    run("CG + BoomerAMG, l1-Jacobi", 18, a, v[0], v[1], v[2], tolerance, rank);
    run("CG + BoomerAMG, Chebyshev", 16, a, v[0], v[1], v[2], tolerance, rank);
    for (int k = 0; k < 3; k++) HYPRE_IJVectorDestroy(vectors[k]);
    HYPRE_IJMatrixDestroy(matrix);
    HYPRE_Finalize();
    MPI_Finalize();
    return 0;
}
